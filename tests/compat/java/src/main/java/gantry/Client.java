package gantry;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * The unmodified client 4.9.8 as a program: {@code send} and {@code consume} speak to a name server and print one
 * tab-separated line an event, which the Python test reads.
 */
public final class Client {

    private Client() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "send":
                send(arguments[1], arguments[2], Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]));
                break;
            case "consume":
                consume(arguments[1], arguments[2], arguments[3], arguments[4]);
                break;
            default:
                throw new IllegalArgumentException("send or consume, not " + arguments[0]);
        }
    }

    /** Sends {@code count} messages, each with a key and a tag, and waits for each answer. */
    private static void send(String nameServer, String topic, int first, int count) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("compat-producer");
        producer.setNamesrvAddr(nameServer);
        producer.start();
        for (int i = first; i < first + count; i++) {
            byte[] body = ("body-" + i).getBytes(StandardCharsets.UTF_8);
            Message message = new Message(topic, i % 2 == 0 ? "even" : "odd", "key-" + i, body);
            message.putUserProperty("number", Integer.toString(i));
            SendResult result = producer.send(message);
            print("sent", Integer.toString(i), result.getSendStatus().name(), result.getMsgId(),
                result.getOffsetMsgId(), Integer.toString(result.getMessageQueue().getQueueId()),
                Long.toString(result.getQueueOffset()));
        }
        producer.shutdown();
        print("done");
    }

    /** Consumes as a push consumer until standard input ends, then shuts down and so keeps its offsets. */
    private static void consume(String nameServer, String group, String topic, String tags) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(nameServer);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPersistConsumerOffsetInterval(1000);
        consumer.subscribe(topic, tags);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            report(messages);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        print("started");
        while (System.in.read() != -1) {
            continue;
        }
        consumer.shutdown();
        print("done");
    }

    private static synchronized void report(List<MessageExt> messages) {
        for (MessageExt message : messages) {
            print("received", message.getUserProperty("number"), message.getKeys(), message.getTags(),
                Integer.toString(message.getQueueId()), Long.toString(message.getQueueOffset()),
                new String(message.getBody(), StandardCharsets.UTF_8), Integer.toString(message.getReconsumeTimes()));
        }
    }

    private static synchronized void print(String... fields) {
        System.out.println(String.join("\t", fields));
        System.out.flush();
    }
}
