package gantry;

import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.parser.Feature;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The unmodified client 4.9.8 under the command of another process: one JSON object a line on standard input is a call,
 * one on standard output its answer or an event of a listener. Each call runs in a thread of its own.
 *
 * <p>Calls: {@code new} (class, arguments, settings), {@code call} (target, method, arguments), {@code listen} and
 * {@code behave} (see {@link Listener}), {@code mqadmin} (words). The end of the input ends the process at once, as a
 * kill would: whoever is to leave in order is shut down by a call.
 */
public final class Driver {
    private static final PrintStream ANSWERS = System.out;

    private final Map<String, Object> objects = new ConcurrentHashMap<>();
    private final Map<String, Listener> listeners = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    public static void main(String[] words) throws Exception {
        System.setOut(System.err);
        Driver driver = new Driver();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JSONObject request = JSON.parseObject(line, Feature.OrderedField);
            driver.threads.execute(() -> driver.answer(request));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Writes one line; what the client and the tools print goes elsewhere. */
    static void tell(Map<String, Object> event) {
        byte[] line = (JSON.toJSONString(event, SerializerFeature.WriteMapNullValue,
            SerializerFeature.DisableCircularReferenceDetect) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (ANSWERS) {
            ANSWERS.write(line, 0, line.length);
            ANSWERS.flush();
        }
    }

    private void answer(JSONObject request) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("id", request.getLong("id"));
        try {
            answer.put("result", Values.toJson(perform(request)));
        } catch (Throwable error) {
            answer.put("error", Values.describe(error));
        }
        tell(answer);
    }

    private Object perform(JSONObject request) throws Throwable {
        String name = request.getString("target");
        switch (request.getString("command")) {
            case "new":
                objects.put(name, Invoker.create(request));
                return null;
            case "call":
                return Invoker.call(objects.get(name), request.getString("method"), request.getJSONArray("arguments"));
            case "listen":
                Listener listener = new Listener(name);
                listeners.put(name, listener);
                listener.attach(objects.get(name), request.getBooleanValue("orderly"));
                return null;
            case "behave":
                listeners.get(name).behave(request);
                return null;
            case "forget":
                listeners.remove(name);
                return objects.remove(name) != null;
            case "mqadmin":
                return Mqadmin.run(request.getJSONArray("words").toArray(new String[0]));
            default:
                throw new IllegalArgumentException(request.getString("command"));
        }
    }
}
