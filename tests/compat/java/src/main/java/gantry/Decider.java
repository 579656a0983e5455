package gantry;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Decides on transactions as their messages say: the property {@code execute} names the state after the send, {@code
 * check} the one that the broker is told when it asks; "THROW" throws.
 */
public final class Decider implements TransactionListener {
    private final List<String> checked = new CopyOnWriteArrayList<>();

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
        return decide(message, "execute");
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        checked.add(new String(message.getBody(), StandardCharsets.UTF_8) + " " + message.getTransactionId() + " "
            + message.getProperty("TRANSACTION_CHECK_TIMES"));
        return decide(message, "check");
    }

    /** Returns body, transaction id and number of the check, for each message that was asked about. */
    public List<String> getChecked() {
        return checked;
    }

    private static LocalTransactionState decide(Message message, String phase) {
        String state = message.getProperty(phase);
        if (state.equals("THROW")) {
            throw new IllegalStateException("no decision");
        }
        return LocalTransactionState.valueOf(state);
    }
}
