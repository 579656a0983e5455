package gantry;

import com.alibaba.fastjson.JSONObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * The listener of one push consumer: tells of every message as an event, and answers as it is told to.
 *
 * <p>{@code answer}: {@code succeed}; {@code later} (concurrent), {@code suspend} (orderly), {@code throw} or
 * {@code nothing}, each for the first {@code times} deliveries of a message, or for all when that is negative;
 * {@code delay} is the level that goes with {@code later}; {@code wait} holds every delivery so many ms.
 */
final class Listener {
    private final String name;
    private final Map<String, Integer> deliveries = new ConcurrentHashMap<>();
    private volatile JSONObject behaviour = new JSONObject(Map.of("answer", "succeed"));

    Listener(String name) {
        this.name = name;
    }

    void behave(JSONObject wanted) {
        behaviour = wanted;
    }

    void attach(Object consumer, boolean orderly) {
        DefaultMQPushConsumer push = (DefaultMQPushConsumer) consumer;
        if (orderly) {
            push.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                String answer = take(messages);
                return answer.equals("succeed") ? ConsumeOrderlyStatus.SUCCESS
                    : answer.equals("suspend") ? ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT : null;
            });
            return;
        }
        push.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            String answer = take(messages);
            context.setDelayLevelWhenNextConsume(behaviour.getIntValue("delay"));
            return answer.equals("succeed") ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS
                : answer.equals("later") ? ConsumeConcurrentlyStatus.RECONSUME_LATER : null;
        });
    }

    private String take(List<MessageExt> messages) {
        JSONObject now = behaviour;
        int seen = 0;
        for (MessageExt message : messages) {
            seen = deliveries.merge(message.getMsgId(), 1, Integer::sum);
            Map<String, Object> event = new LinkedHashMap<>();
            event.put("event", name);
            event.put("thread", Thread.currentThread().getId());
            event.put("at", System.currentTimeMillis());
            event.put("message", Values.toJson(message));
            Driver.tell(event);
        }
        hold(now.getLongValue("wait"));
        boolean refuses = now.getIntValue("times") < 0 || seen <= now.getIntValue("times");
        String answer = refuses ? now.getString("answer") : "succeed";
        if (answer.equals("throw")) {
            throw new IllegalStateException("as told");
        }
        return answer;
    }

    private static void hold(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
