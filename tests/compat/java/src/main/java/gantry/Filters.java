package gantry;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.filter.expression.EvaluationContext;
import org.apache.rocketmq.filter.expression.Expression;
import org.apache.rocketmq.filter.FilterFactory;

/** Tests messages against SQL92 filters: a line with an expression and properties in, a line with the outcome out. */
public final class Filters {
    private Filters() {
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder outcomes = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split(" ");
            outcomes.append(outcome(decode(parts[0]), properties(parts))).append('\n');
        }
        System.out.print(outcomes);
    }

    private static String outcome(String expression, Map<String, String> properties) {
        Expression compiled;
        try {
            compiled = FilterFactory.INSTANCE.get("SQL92").compile(expression);
        } catch (Exception e) {
            return "refused";
        }
        try {
            return String.valueOf(compiled.evaluate(new Properties(properties)));
        } catch (Exception e) {
            return "failed";
        }
    }

    private static Map<String, String> properties(String[] parts) {
        Map<String, String> found = new HashMap<>();
        for (int i = 1; i < parts.length; i++) {
            String[] pair = parts[i].split(":");
            found.put(decode(pair[0]), decode(pair[1]));
        }
        return found;
    }

    private static String decode(String text) {
        return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
    }

    private static final class Properties implements EvaluationContext {
        private final Map<String, String> values;

        Properties(Map<String, String> values) {
            this.values = values;
        }

        @Override
        public Object get(String name) {
            return values.get(name);
        }

        @Override
        public Map<String, Object> keyValues() {
            return new HashMap<>(values);
        }
    }
}
