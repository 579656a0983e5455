package gantry;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Makes objects and calls methods by name; of several with the same name, the one whose parameters the arguments fit. */
final class Invoker {
    private static final long CALLBACK_SECONDS = 60;

    private Invoker() {}

    /** Returns a new object of {@code class}, each of its {@code settings} set. */
    static Object create(JSONObject request) throws Throwable {
        Class<?> kind = Class.forName(request.getString("class"));
        JSONArray arguments = request.getJSONArray("arguments");
        Object made = null;
        for (Constructor<?> constructor : kind.getConstructors()) {
            if (made == null && fit(constructor, arguments)) {
                made = constructor.newInstance(convert(constructor, arguments, new Callback()));
            }
        }
        if (made == null) {
            throw new NoSuchMethodException("no constructor of " + kind + " for " + arguments);
        }
        for (Map.Entry<String, Object> setting : request.getJSONObject("settings").entrySet()) {
            JSONArray value = new JSONArray();
            value.add(setting.getValue());
            String name = setting.getKey();
            call(made, "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1), value);
        }
        return made;
    }

    /**
     * Returns what the method answers, or what the callback among its arguments is told. A path of getters may stand
     * before the method's name, with points between them.
     */
    static Object call(Object target, String path, JSONArray arguments) throws Throwable {
        Object owner = target;
        String[] names = path.split("\\.");
        for (int i = 0; i < names.length - 1; i++) {
            owner = invoke(owner, names[i], new JSONArray());
        }
        return invoke(owner, names[names.length - 1], arguments);
    }

    private static Object invoke(Object target, String name, JSONArray arguments) throws Throwable {
        for (Method method : target.getClass().getMethods()) {
            if (method.getName().equals(name) && !method.isBridge() && fit(method, arguments)) {
                Callback callback = new Callback();
                try {
                    Object result = method.invoke(target, convert(method, arguments, callback));
                    if (callback.isUsed()) {
                        return callback.told().get(CALLBACK_SECONDS, TimeUnit.SECONDS);
                    }
                    return result instanceof Future ? ((Future<?>) result).get(CALLBACK_SECONDS, TimeUnit.SECONDS)
                        : result;
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            }
        }
        throw new NoSuchMethodException(target.getClass() + "." + name + " for " + arguments);
    }

    private static boolean fit(Executable method, JSONArray arguments) {
        Class<?>[] kinds = method.getParameterTypes();
        if (kinds.length != arguments.size()) {
            return false;
        }
        for (int i = 0; i < kinds.length; i++) {
            if (!Values.fits(arguments.get(i), kinds[i])) {
                return false;
            }
        }
        return true;
    }

    private static Object[] convert(Executable method, JSONArray arguments, Callback callback) throws Exception {
        Type[] types = method.getGenericParameterTypes();
        Object[] converted = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            converted[i] = Values.fromJson(arguments.get(i), types[i], callback);
        }
        return converted;
    }
}
