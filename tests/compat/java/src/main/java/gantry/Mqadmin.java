package gantry;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;
import org.apache.commons.cli.PosixParser;
import org.apache.rocketmq.acl.common.AclUtils;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.srvutil.ServerUtil;
import org.apache.rocketmq.tools.command.MQAdminStartup;
import org.apache.rocketmq.tools.command.SubCommand;

/** The commands of {@code mqadmin}, without its habit of ending the process when a word is wrong. */
final class Mqadmin extends MQAdminStartup {

    /** What a command threw, with what it had printed until then. */
    static final class Failed extends Exception {
        final String output;

        Failed(Throwable cause, String output) {
            super(cause.getMessage(), cause);
            this.output = output;
        }
    }

    /** Runs one command and returns what it printed. One at a time: standard output and a property are the process's. */
    static synchronized String run(String[] words) throws Exception {
        commands().clear(); // some commands keep a client that they shut down at their end
        initCommand();
        SubCommand command = commands().stream()
            .filter(one -> one.commandName().equalsIgnoreCase(words[0])).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no command " + words[0]));
        PrintStream before = System.out;
        PrintStream errors = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream taken = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setOut(taken);
        System.setErr(taken); // where some commands tell their failure
        try {
            execute(command, Arrays.copyOfRange(words, 1, words.length));
        } catch (Exception error) {
            throw new Failed(error, printed.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(before);
            System.setErr(errors);
            System.clearProperty(MixAll.NAMESRV_ADDR_PROPERTY);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    /** Returns the tool's own collection of commands: a list in 4.9, a set of another name in 5.x. */
    @SuppressWarnings("unchecked")
    private static Collection<SubCommand> commands() throws IllegalAccessException {
        for (Field field : MQAdminStartup.class.getDeclaredFields()) {
            if (Collection.class.isAssignableFrom(field.getType())) {
                field.setAccessible(true);
                return (Collection<SubCommand>) field.get(null);
            }
        }
        throw new IllegalStateException("MQAdminStartup keeps no collection of commands");
    }

    private static void execute(SubCommand command, String[] words) throws Exception {
        Options options = command.buildCommandlineOptions(ServerUtil.buildCommandlineOptions(new Options()));
        CommandLine line;
        try {
            line = new PosixParser().parse(options, words);
        } catch (ParseException error) {
            throw new IllegalArgumentException(command.commandName() + ": " + error.getMessage(), error);
        }
        if (line.hasOption('n')) {
            System.setProperty(MixAll.NAMESRV_ADDR_PROPERTY, line.getOptionValue('n'));
        }
        // The tool's own account is in a file of the folder that the JVM was given; without one nothing is signed.
        String home = System.getProperty(MixAll.ROCKETMQ_HOME_PROPERTY);
        command.execute(line, options, home == null ? null : AclUtils.getAclRPCHook(home + MixAll.ACL_CONF_TOOLS_FILE));
    }
}
