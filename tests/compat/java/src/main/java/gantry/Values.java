package gantry;

import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.util.TypeUtils;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.PullCallback;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.MessageQueueSelector;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Between JSON and what the client's methods take and give. */
final class Values {

    private Values() {}

    /** Returns whether a value may stand for a parameter of this kind. */
    static boolean fits(Object value, Class<?> kind) {
        if (value == null) {
            return !kind.isPrimitive();
        }
        if (value instanceof String) {
            return kind == String.class || kind == Object.class || kind.isEnum();
        }
        if (value instanceof Boolean) {
            return kind == boolean.class || kind == Boolean.class;
        }
        if (value instanceof Number) {
            return kind == int.class || kind == long.class || kind == Long.class || kind == Integer.class
                || kind == Object.class;
        }
        if (value instanceof JSONArray) {
            return Collection.class.isAssignableFrom(kind) || Map.class.isAssignableFrom(kind) || kind == long[].class;
        }
        JSONObject object = (JSONObject) value;
        if (object.containsKey("callback")) {
            return kind == SendCallback.class || kind == PullCallback.class;
        }
        if (object.containsKey("selector")) {
            return kind == MessageQueueSelector.class;
        }
        if (object.containsKey("sql") || object.containsKey("tag")) {
            return kind == MessageSelector.class;
        }
        if (object.containsKey("body") || object.containsKey("queueId")) {
            return Message.class.isAssignableFrom(kind) == object.containsKey("body")
                && MessageQueue.class.isAssignableFrom(kind) != object.containsKey("body");
        }
        return !kind.isPrimitive() && kind != String.class && !Collection.class.isAssignableFrom(kind)
            && kind != Message.class && kind != MessageQueue.class && !kind.getName().startsWith("java.lang.");
    }

    /** Returns the value as the parameter wants it. */
    static Object fromJson(Object value, Type type, Callback callback) throws Exception {
        Class<?> kind = (Class<?>) (type instanceof ParameterizedType ? ((ParameterizedType) type).getRawType() : type);
        if (kind == SendCallback.class && value != null) {
            return callback.forSend();
        } else if (kind == PullCallback.class && value != null) {
            return callback.forPull();
        } else if (kind == MessageQueueSelector.class) {
            Class<?> selector = Class.forName(((JSONObject) value).getString("selector"));
            return selector.getConstructor().newInstance();
        } else if (kind == MessageSelector.class) {
            JSONObject object = (JSONObject) value;
            return object.containsKey("sql") ? MessageSelector.bySql(object.getString("sql"))
                : MessageSelector.byTag(object.getString("tag"));
        } else if (kind == MessageExt.class) {
            return received((JSONObject) value);
        } else if (kind == Message.class) {
            return message((JSONObject) value, new Message());
        } else if (kind == MessageQueue.class) {
            return queue((JSONObject) value);
        } else if (kind == Properties.class) {
            Properties properties = new Properties();
            ((JSONObject) value).forEach((name, text) -> properties.setProperty(name, text.toString()));
            return properties;
        } else if (value instanceof JSONArray && type instanceof ParameterizedType) {
            return several((JSONArray) value, kind, ((ParameterizedType) type).getActualTypeArguments(), callback);
        } else if (value instanceof JSONObject && ((JSONObject) value).containsKey("new")) {
            JSONObject made = new JSONObject();
            made.put("class", ((JSONObject) value).getString("new"));
            made.put("arguments", ((JSONObject) value).getOrDefault("arguments", new JSONArray()));
            made.put("settings", ((JSONObject) value).getOrDefault("settings", new JSONObject()));
            try {
                return Invoker.create(made);
            } catch (Throwable error) {
                throw new ExecutionException(error);
            }
        }
        return kind == Object.class ? value : TypeUtils.cast(value, type, null);
    }

    private static Object several(JSONArray values, Class<?> kind, Type[] of, Callback callback) throws Exception {
        if (Map.class.isAssignableFrom(kind)) {
            Map<Object, Object> map = new HashMap<>();
            for (Object pair : values) {
                JSONArray both = (JSONArray) pair;
                map.put(fromJson(both.get(0), of[0], callback), fromJson(both.get(1), of[1], callback));
            }
            return map;
        }
        Collection<Object> all = Set.class.isAssignableFrom(kind) ? new LinkedHashSet<>() : new ArrayList<>();
        for (Object value : values) {
            all.add(fromJson(value, of[0], callback));
        }
        return all;
    }

    private static Message message(JSONObject from, Message message) {
        message.setTopic(from.getString("topic"));
        message.setBody(Base64.getDecoder().decode(from.getString("body")));
        message.setFlag(from.getIntValue("flag"));
        JSONObject properties = from.getJSONObject("properties");
        if (properties != null) {
            // Not by putUserProperty, which refuses system names: some tests are about those.
            properties.forEach((name, text) -> MessageAccessor.putProperty(message, name, text.toString()));
        }
        return message;
    }

    private static MessageExt received(JSONObject from) throws Exception {
        MessageExt message = new MessageExt();
        message(from, message);
        message.setMsgId(from.getString("offsetMsgId"));
        message.setCommitLogOffset(from.getLongValue("commitLogOffset"));
        message.setQueueId(from.getIntValue("queueId"));
        message.setQueueOffset(from.getLongValue("queueOffset"));
        message.setReconsumeTimes(from.getIntValue("reconsumeTimes"));
        message.setBrokerName(from.getString("brokerName"));
        String host = from.getString("storeHost");
        int colon = host.lastIndexOf(':');
        message.setStoreHost(new InetSocketAddress(
            host.substring(0, colon), Integer.parseInt(host.substring(colon + 1))));
        return message;
    }

    private static MessageQueue queue(JSONObject from) {
        return new MessageQueue(from.getString("topic"), from.getString("brokerName"), from.getIntValue("queueId"));
    }

    /** Returns a value as JSON; a map with other keys than texts becomes a list of pairs. */
    static Object toJson(Object value) {
        if (value instanceof byte[]) {
            return Base64.getEncoder().encodeToString((byte[]) value);
        } else if (value instanceof MessageExt) {
            return toJson((MessageExt) value);
        } else if (value instanceof SendResult) {
            return toJson((SendResult) value);
        } else if (value instanceof PullResult) {
            return toJson((PullResult) value);
        } else if (value instanceof QueryResult) {
            return toJson(((QueryResult) value).getMessageList());
        } else if (value instanceof Collection) {
            List<Object> all = new ArrayList<>();
            ((Collection<?>) value).forEach(one -> all.add(toJson(one)));
            return all;
        } else if (value instanceof Map) {
            return toJson((Map<?, ?>) value);
        } else if (value != null && value.getClass().getSimpleName().equals("PopResult")) { // 5.x alone has it
            return toJson(messagesOf(value));
        }
        return JSON.toJSON(value);
    }

    private static List<?> messagesOf(Object popped) {
        try {
            Object found = popped.getClass().getMethod("getMsgFoundList").invoke(popped);
            return found == null ? List.of() : (List<?>) found;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Object toJson(Map<?, ?> map) {
        List<Object> pairs = new ArrayList<>();
        Map<String, Object> texts = new LinkedHashMap<>();
        map.forEach((key, value) -> {
            pairs.add(List.of(toJson(key), value == null ? "" : toJson(value)));
            texts.put(String.valueOf(key), toJson(value));
        });
        return map.keySet().stream().allMatch(key -> key instanceof String) ? texts : pairs;
    }

    private static Object toJson(SendResult sent) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("status", sent.getSendStatus().name());
        row.put("msgId", sent.getMsgId());
        row.put("offsetMsgId", sent.getOffsetMsgId());
        row.put("queue", JSON.toJSON(sent.getMessageQueue()));
        row.put("queueOffset", sent.getQueueOffset());
        if (sent instanceof TransactionSendResult) {
            row.put("state", ((TransactionSendResult) sent).getLocalTransactionState().name());
        }
        row.put("recallHandle", ((JSONObject) JSON.toJSON(sent)).get("recallHandle")); // 5.x alone has one
        return row;
    }

    private static Object toJson(PullResult pulled) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("status", pulled.getPullStatus().name());
        row.put("next", pulled.getNextBeginOffset());
        row.put("min", pulled.getMinOffset());
        row.put("max", pulled.getMaxOffset());
        row.put("messages", pulled.getMsgFoundList() == null ? List.of() : toJson(pulled.getMsgFoundList()));
        return row;
    }

    private static Object toJson(MessageExt message) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", message.getTopic());
        row.put("body", Base64.getEncoder().encodeToString(message.getBody()));
        row.put("flag", message.getFlag());
        row.put("properties", new LinkedHashMap<>(message.getProperties()));
        row.put("brokerName", message.getBrokerName());
        row.put("queueId", message.getQueueId());
        row.put("queueOffset", message.getQueueOffset());
        row.put("msgId", message.getMsgId());
        row.put("offsetMsgId", message instanceof MessageClientExt
            ? ((MessageClientExt) message).getOffsetMsgId() : message.getMsgId());
        row.put("commitLogOffset", message.getCommitLogOffset());
        row.put("reconsumeTimes", message.getReconsumeTimes());
        row.put("sysFlag", message.getSysFlag());
        row.put("bornTimestamp", message.getBornTimestamp());
        row.put("storeTimestamp", message.getStoreTimestamp());
        row.put("bornHost", host(message.getBornHost()));
        row.put("storeHost", host(message.getStoreHost()));
        return row;
    }

    private static String host(SocketAddress address) {
        InetSocketAddress host = (InetSocketAddress) address;
        return host.getAddress().getHostAddress() + ":" + host.getPort();
    }

    /** Returns class, message and response code of what a call threw, and of what was behind it. */
    static Map<String, Object> describe(Throwable thrown) {
        Throwable error = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
        Map<String, Object> row = new LinkedHashMap<>();
        List<String> causes = new ArrayList<>();
        int code = -1;
        for (Throwable at = error; at != null; at = at.getCause()) {
            causes.add(at.toString());
            if (at instanceof MQBrokerException && code < 0) {
                code = ((MQBrokerException) at).getResponseCode();
            } else if (at instanceof MQClientException && code < 0) {
                code = ((MQClientException) at).getResponseCode();
            }
        }
        row.put("class", error.getClass().getSimpleName());
        row.put("message", String.valueOf(error.getMessage()));
        row.put("code", code);
        row.put("causes", causes);
        row.put("output", error instanceof Mqadmin.Failed ? ((Mqadmin.Failed) error).output : "");
        return row;
    }
}
