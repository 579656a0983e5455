package gantry;

import java.util.concurrent.CompletableFuture;
import org.apache.rocketmq.client.consumer.PullCallback;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;

/** What asynchronous calls are handed, when the caller wrote {@code {"callback": true}}: keeps what it is told. */
final class Callback {
    private final CompletableFuture<Object> told = new CompletableFuture<>();
    private boolean used;

    boolean isUsed() {
        return used;
    }

    CompletableFuture<Object> told() {
        return told;
    }

    SendCallback forSend() {
        used = true;
        return new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                told.complete(result);
            }

            @Override
            public void onException(Throwable error) {
                told.completeExceptionally(error);
            }
        };
    }

    PullCallback forPull() {
        used = true;
        return new PullCallback() {
            @Override
            public void onSuccess(PullResult result) {
                told.complete(result);
            }

            @Override
            public void onException(Throwable error) {
                told.completeExceptionally(error);
            }
        };
    }
}
