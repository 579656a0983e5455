package gantry;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Measures a cluster with the unmodified client. One measurement for each line of input; each prints one line: messages,
 * seconds, and the middle and 99th hundredth of its latencies in microseconds.
 */
public final class Bench {
    private static final int QUEUES_READ_AT_ONCE = 4;

    private interface Work {
        /** Do one thing; return how many messages it was. */
        int once() throws Exception;
    }

    private Bench() {
    }

    public static void main(String[] ignored) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("send")) {
                send(words[1], words[2], number(words[3]), number(words[4]), number(words[5]), seconds(words[6]));
            } else if (words[0].equals("pull")) {
                pull(words[1], words[2]);
            } else if (words[0].equals("fill")) {
                fill(words[1], words[2], number(words[3]), number(words[4]), number(words[5]), number(words[6]));
            } else if (words[0].equals("search")) {
                search(words[1], words[2], number(words[3]), number(words[4]));
            } else {
                live(words[1], words[2], number(words[3]), number(words[4]), seconds(words[5]));
            }
        }
        System.exit(0);
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private static long seconds(String word) {
        return (long) (Double.parseDouble(word) * 1e9);
    }

    private static DefaultMQProducer producer(String nameServer) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("bench");
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName("bench" + System.nanoTime());
        producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        producer.setSendMsgTimeout(20_000);
        producer.start();
        return producer;
    }

    private static void send(String nameServer, String topic, int senders, int size, int batch, long duration)
            throws Exception {
        DefaultMQProducer producer = producer(nameServer);
        byte[] body = new byte[size];
        Arrays.fill(body, (byte) 'x');
        Work work = () -> {
            if (batch == 1) {
                producer.send(new Message(topic, body));
                return 1;
            }
            List<Message> messages = new ArrayList<>();
            for (int n = 0; n < batch; n++) {
                messages.add(new Message(topic, body));
            }
            producer.send(messages);
            return batch;
        };
        run(work, senders, duration / 3);
        report(run(work, senders, duration));
        producer.shutdown();
    }

    /** What the senders did together. */
    private static final class Done {
        private long messages;
        private double seconds;
        private final List<long[]> latencies = new ArrayList<>();
    }

    private static Done run(Work work, int senders, long duration) throws Exception {
        Done done = new Done();
        CountDownLatch left = new CountDownLatch(senders);
        long begin = System.nanoTime();
        long end = begin + duration;
        for (int n = 0; n < senders; n++) {
            new Thread(() -> {
                long[] latencies = new long[1024];
                int count = 0;
                long messages = 0;
                try {
                    for (long now = System.nanoTime(); now < end;) {
                        messages += work.once();
                        long then = System.nanoTime();
                        if (count == latencies.length) {
                            latencies = Arrays.copyOf(latencies, 2 * count);
                        }
                        latencies[count++] = then - now;
                        now = then;
                    }
                } catch (Exception error) {
                    error.printStackTrace();
                    System.exit(1);
                }
                synchronized (done) {
                    done.messages += messages;
                    done.latencies.add(Arrays.copyOf(latencies, count));
                }
                left.countDown();
            }).start();
        }
        left.await();
        done.seconds = (System.nanoTime() - begin) / 1e9;
        return done;
    }

    private static void report(Done done) {
        int count = done.latencies.stream().mapToInt(some -> some.length).sum();
        long[] all = new long[count];
        int at = 0;
        for (long[] some : done.latencies) {
            System.arraycopy(some, 0, all, at, some.length);
            at += some.length;
        }
        Arrays.sort(all);
        print(done.messages, done.seconds, hundredth(all, 50), hundredth(all, 99));
    }

    private static double hundredth(long[] sorted, int hundredth) {
        return sorted.length == 0 ? 0 : sorted[(int) ((sorted.length - 1L) * hundredth / 100)] / 1e3;
    }

    private static void print(long messages, double seconds, double middle, double late) {
        System.out.printf("%d %.6f %.1f %.1f%n", messages, seconds, middle, late);
        System.out.flush();
    }

    /** Send so many messages in batches, each with a number of its own as key. */
    private static void fill(String nameServer, String topic, int senders, int size, int batch, int count)
            throws Exception {
        DefaultMQProducer producer = producer(nameServer);
        byte[] body = new byte[size];
        Arrays.fill(body, (byte) 'x');
        AtomicInteger next = new AtomicInteger();
        CountDownLatch left = new CountDownLatch(senders);
        long begin = System.nanoTime();
        for (int n = 0; n < senders; n++) {
            new Thread(() -> {
                try {
                    for (int at = next.getAndAdd(batch); at < count; at = next.getAndAdd(batch)) {
                        List<Message> messages = new ArrayList<>();
                        for (int key = at; key < Math.min(at + batch, count); key++) {
                            messages.add(new Message(topic, "", "k" + key, body));
                        }
                        producer.send(messages);
                    }
                } catch (Exception error) {
                    error.printStackTrace();
                    System.exit(1);
                }
                left.countDown();
            }).start();
        }
        left.await();
        print(count, (System.nanoTime() - begin) / 1e9, 0, 0);
        producer.shutdown();
    }

    /** Look so many messages up by their keys, which are numbers below {@code keys}. */
    private static void search(String nameServer, String topic, int searches, int keys) throws Exception {
        DefaultMQProducer producer = producer(nameServer);
        Random random = new Random(1);
        Work work = () -> {
            String key = "k" + random.nextInt(keys);
            QueryResult found = producer.queryMessage(topic, key, 32, 0, System.currentTimeMillis());
            if (found.getMessageList().size() != 1) {
                throw new IllegalStateException(key + " has " + found.getMessageList().size() + " messages");
            }
            return 1;
        };
        long[] latencies = new long[searches];
        long begin = 0;
        for (int n = -searches / 10; n < searches; n++) {
            long now = System.nanoTime();
            begin = n == 0 ? now : begin;
            work.once();
            if (n >= 0) {
                latencies[n] = System.nanoTime() - now;
            }
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        Arrays.sort(latencies);
        print(searches, seconds, hundredth(latencies, 50), hundredth(latencies, 99));
        producer.shutdown();
    }

    /** Read all that the topic holds, a few queues at once. */
    private static void pull(String nameServer, String topic) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("bench-pull");
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName("bench" + System.nanoTime());
        consumer.start();
        List<MessageQueue> queues = new ArrayList<>(consumer.fetchSubscribeMessageQueues(topic));
        AtomicInteger next = new AtomicInteger();
        AtomicLong messages = new AtomicLong();
        CountDownLatch left = new CountDownLatch(QUEUES_READ_AT_ONCE);
        long begin = System.nanoTime();
        for (int n = 0; n < QUEUES_READ_AT_ONCE; n++) {
            new Thread(() -> {
                try {
                    for (int at = next.getAndIncrement(); at < queues.size(); at = next.getAndIncrement()) {
                        messages.addAndGet(drain(consumer, queues.get(at)));
                    }
                } catch (Exception error) {
                    error.printStackTrace();
                    System.exit(1);
                }
                left.countDown();
            }).start();
        }
        left.await();
        print(messages.get(), (System.nanoTime() - begin) / 1e9, 0, 0);
        consumer.shutdown();
    }

    private static long drain(DefaultMQPullConsumer consumer, MessageQueue queue) throws Exception {
        long messages = 0;
        long offset = consumer.minOffset(queue);
        while (true) {
            PullResult result = consumer.pull(queue, "*", offset, 32);
            if (result.getPullStatus() != PullStatus.FOUND) {
                return messages;
            }
            messages += result.getMsgFoundList().size();
            offset = result.getNextBeginOffset();
        }
    }

    /** Send so many messages a second and measure each from before its send until a listener has it. */
    private static void live(String nameServer, String topic, int perSecond, int size, long duration) throws Exception {
        List<Long> latencies = new ArrayList<>();
        AtomicLong from = new AtomicLong(Long.MAX_VALUE);
        AtomicLong heard = new AtomicLong();
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("bench-live" + System.nanoTime());
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName("bench" + System.nanoTime());
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
        consumer.setConsumeThreadMin(2);
        consumer.setConsumeThreadMax(2);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            long now = System.nanoTime();
            messages.forEach(message -> {
                long sent = Long.parseLong(message.getUserProperty("sent"));
                if (sent >= from.get()) {
                    synchronized (latencies) {
                        latencies.add(now - sent);
                    }
                }
                heard.incrementAndGet();
            });
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        DefaultMQProducer producer = producer(nameServer);
        while (heard.get() < 20) {
            producer.send(timed(topic, size));
            Thread.sleep(20);
        }
        long begin = System.nanoTime();
        from.set(begin + duration / 3);
        long sent = 0;
        for (long now = begin; now < begin + duration; now = System.nanoTime()) {
            long due = begin + sent * 1_000_000_000L / perSecond;
            if (now < due) {
                Thread.sleep(0, (int) Math.min(due - now, 999_999));
                continue;
            }
            producer.send(timed(topic, size));
            sent++;
        }
        Thread.sleep(300);
        long[] sorted;
        synchronized (latencies) {
            sorted = latencies.stream().mapToLong(Long::longValue).sorted().toArray();
        }
        print(sorted.length, duration / 1.5e9, hundredth(sorted, 50), hundredth(sorted, 99));
        consumer.shutdown();
        producer.shutdown();
    }

    private static Message timed(String topic, int size) {
        byte[] body = new byte[size];
        Message message = new Message(topic, body);
        message.putUserProperty("sent", Long.toString(System.nanoTime()));
        return message;
    }
}
