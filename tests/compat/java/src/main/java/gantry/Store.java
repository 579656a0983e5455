package gantry;

import java.io.File;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.TreeSet;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.TopicFilterType;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.GetMessageStatus;
import org.apache.rocketmq.store.MessageExtBrokerInner;
import org.apache.rocketmq.store.PutMessageStatus;
import org.apache.rocketmq.store.QueryMessageResult;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/**
 * Opens a store folder with the store of Apache RocketMQ, tells what it finds, one tab-separated row each, puts messages,
 * and stops well or is halted. Arguments: folder, segment bytes, units, slots, entries, number of messages to put,
 * "stop" or "halt", then topic and key pairs to look for.
 */
public final class Store {
    private final DefaultMessageStore store;

    private Store(MessageStoreConfig config) throws Exception {
        store = new DefaultMessageStore(
            config, new BrokerStatsManager("compat", true), (a, b, c, d, e, f, g) -> { }, new BrokerConfig());
    }

    public static void main(String[] words) throws Exception {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(words[0]);
        config.setStorePathCommitLog(words[0] + "/commitlog");
        config.setMappedFileSizeCommitLog(Integer.parseInt(words[1]));
        config.setMappedFileSizeConsumeQueue(Integer.parseInt(words[2]) * 20);
        config.setMaxHashSlotNum(Integer.parseInt(words[3]));
        config.setMaxIndexNum(Integer.parseInt(words[4]));
        config.setHaListenPort(0);
        Store opened = new Store(config);
        if (!opened.store.load()) {
            tell("refused");
            Runtime.getRuntime().halt(1);
        }
        opened.store.start();
        opened.waitForDispatch();
        opened.tellQueues(new File(words[0], "consumequeue"));
        for (int at = 7; at + 1 < words.length; at += 2) {
            opened.tellKey(words[at], words[at + 1]);
        }
        opened.put(Integer.parseInt(words[5]));
        opened.waitForDispatch();
        tell("end", opened.store.getMaxPhyOffset());
        if (words[6].equals("halt")) {
            Runtime.getRuntime().halt(0);
        }
        opened.store.shutdown();
        System.exit(0);
    }

    private void waitForDispatch() throws InterruptedException {
        while (store.dispatchBehindBytes() > 0) {
            Thread.sleep(10);
        }
    }

    private void tellQueues(File folder) {
        String[] topics = folder.list();
        for (String topic : new TreeSet<>(Arrays.asList(topics == null ? new String[0] : topics))) {
            for (String queue : new TreeSet<>(Arrays.asList(new File(folder, topic).list()))) {
                tellQueue(topic, Integer.parseInt(queue));
            }
        }
    }

    private void tellQueue(String topic, int queue) {
        long max = store.getMaxOffsetInQueue(topic, queue);
        tell("queue", topic, queue, store.getMinOffsetInQueue(topic, queue), max);
        for (long at = store.getMinOffsetInQueue(topic, queue); at < max;) {
            GetMessageResult result = store.getMessage("compat", topic, queue, at, 32, null);
            if (result.getStatus() != GetMessageStatus.FOUND) {
                tell("stuck", topic, queue, at, result.getStatus());
                return;
            }
            for (ByteBuffer buffer : result.getMessageBufferList()) {
                MessageExt message = MessageDecoder.decode(buffer, true, false);
                tell("message", topic, queue, message.getQueueOffset(), message.getKeys(), message.getTags(),
                    message.getBornHostString(), Arrays.hashCode(message.getBody()));
            }
            at = result.getNextBeginOffset();
            result.release();
        }
    }

    private void tellKey(String topic, String key) {
        QueryMessageResult result = store.queryMessage(topic, key, 32, 0, Long.MAX_VALUE);
        for (ByteBuffer buffer : result.getMessageBufferList()) {
            MessageExt message = MessageDecoder.decode(buffer, true, false);
            tell("found", topic, key, message.getQueueId(), message.getQueueOffset());
        }
        result.release();
    }

    private void put(int count) {
        for (int number = 0; number < count; number++) {
            MessageExtBrokerInner message = new MessageExtBrokerInner();
            message.setTopic("Java");
            message.setBody(("java" + number).getBytes(StandardCharsets.UTF_8));
            message.setKeys("j" + number);
            message.setTags("TagJ");
            message.setQueueId(number % 2);
            message.setBornTimestamp(System.currentTimeMillis());
            message.setBornHost(new InetSocketAddress("10.0.0.1", 5000));
            message.setStoreHost(new InetSocketAddress("10.0.0.2", 10911));
            message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
            message.setTagsCode(
                MessageExtBrokerInner.tagsString2tagsCode(TopicFilterType.SINGLE_TAG, message.getTags()));
            if (store.putMessage(message).getPutMessageStatus() != PutMessageStatus.PUT_OK) {
                tell("refused", number);
            }
        }
    }

    private static synchronized void tell(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.length() == 0 ? "" : "\t").append(word);
        }
        System.out.println(line);
    }
}
