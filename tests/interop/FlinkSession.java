import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * A Flink that stays up and answers statement by statement.
 *
 * <p>Each line of standard input is a statement (with `\n` and `\\` escaped); each answer is one line of JSON:
 * {"rows": [[...], ...]} or {"error": "..."}. The line `!new` begins a new session. `SET 'key' = 'value'` and `RESET` are settings
 * of the session. In streaming mode a query ends when no row came for `idle` milliseconds, and each row begins with its kind.
 */
public class FlinkSession {
    private static final Pattern SET = Pattern.compile("(?is)^SET\\s+'([^']*)'\\s*=\\s*'([^']*)'$");
    private static final Pattern RESET = Pattern.compile("(?is)^RESET\\s+'([^']*)'$");
    private static final long IDLE_MS = Long.getLong("idle", 4000);
    private static int port;
    private static TableEnvironment env;
    private static final Map<String, String> settings = new TreeMap<>();
    private static final List<String> catalogs = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        startCluster();
        newSession();
        answers.println("{\"rows\": []}");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String sql = line.replace("\\n", "\n").replace("\\\\", "\\");
            String answer;
            try {
                answer = "{\"rows\": " + run(sql) + "}";
            } catch (Throwable error) {
                answer = "{\"error\": " + text(causes(error)) + "}";
            }
            answers.println(answer);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void startCluster() throws Exception {
        Configuration c = new Configuration();
        for (String key : List.of("rest.bind-address", "rest.address", "jobmanager.bind-host", "taskmanager.bind-host", "taskmanager.host"))
            c.setString(key, "127.0.0.1");
        c.setString("jobmanager.rpc.address", "localhost");
        c.setString("rest.bind-port", "0");
        c.setString("taskmanager.memory.network.min", "64mb");
        c.setString("taskmanager.memory.network.max", "64mb");
        c.setString("taskmanager.memory.managed.size", "256mb");
        c.setString("classloader.check-leaked-classloader", "false");
        MiniCluster cluster = new MiniCluster(
            new MiniClusterConfiguration.Builder().setConfiguration(c).setNumTaskManagers(1).setNumSlotsPerTaskManager(8).build());
        cluster.start();
        port = cluster.getRestAddress().get().getPort();
    }

    private static boolean streaming() {
        return "streaming".equalsIgnoreCase(settings.get("execution.runtime-mode"));
    }

    private static void newSession() {
        Configuration c = new Configuration();
        c.setString("parallelism.default", "1");
        c.setString("table.exec.resource.default-parallelism", "1");
        c.setString("table.local-time-zone", "UTC");
        c.setString("table.dml-sync", "true");
        c.setString("execution.target", "remote");
        c.setString("rest.address", "127.0.0.1");
        c.setString("rest.port", String.valueOf(port));
        c.setString("rest.bind-port", "0");
        c.setString("rest.bind-address", "127.0.0.1");
        c.setString("client.retry-period", "50");
        if (streaming()) {
            c.setString("execution.checkpointing.interval", "300 ms");
            c.setString("restart-strategy.type", "none"); // a job that fails gives its error; else Flink starts it again for ever
        }
        settings.forEach(c::setString);
        EnvironmentSettings.Builder b = EnvironmentSettings.newInstance().withConfiguration(c);
        env = TableEnvironment.create(streaming() ? b.inStreamingMode().build() : b.inBatchMode().build());
        for (String statement : catalogs) env.executeSql(statement);
    }

    private static String run(String sql) throws Exception {
        Matcher m = SET.matcher(sql);
        boolean reset = false;
        if (sql.equals("!new")) {
            settings.clear();
            catalogs.clear();
            reset = true;
        } else if (m.find()) {
            settings.put(m.group(1), m.group(2));
            reset = true;
        } else if ((m = RESET.matcher(sql)).find()) {
            settings.remove(m.group(1));
            reset = true;
        }
        if (reset) {
            newSession();
            return "[]";
        }
        TableResult result = env.executeSql(sql);
        String start = sql.substring(0, Math.min(14, sql.length())).toUpperCase();
        if (start.startsWith("CREATE CATALOG") || start.startsWith("USE")) catalogs.add(sql);
        if (start.startsWith("INSERT") || start.startsWith("UPDATE") || start.startsWith("DELETE")) return "[]";
        StringJoiner rows = new StringJoiner(", ", "[", "]");
        if (streaming() && (start.startsWith("SELECT") || start.startsWith("WITH"))) {
            try (Changes changes = new Changes(result)) {
                changes.writeTo(rows);
            }
            return rows.toString();
        }
        List<Column> columns = result.getResolvedSchema().getColumns();
        try (CloseableIterator<Row> it = result.collect()) {
            while (it.hasNext()) rows.add(row(it.next(), columns, false));
        }
        return rows.toString();
    }

    /** Rows of a query that has no end, until none comes for a while. */
    private static final class Changes implements AutoCloseable {
        private final List<String> found = new ArrayList<>();
        private final TableResult result;
        private final Thread reader;
        private RuntimeException failed;
        private volatile boolean closing;

        Changes(TableResult result) {
            this.result = result;
            reader = new Thread(this::read);
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            List<Column> columns = result.getResolvedSchema().getColumns();
            try {
                CloseableIterator<Row> it = result.collect();
                while (it.hasNext()) {
                    String row = row(it.next(), columns, true);
                    synchronized (found) {
                        found.add(row);
                    }
                }
            } catch (RuntimeException error) {
                if (!closing) failed = error;
            }
        }

        void writeTo(StringJoiner rows) throws Exception {
            // A job that is slow to start gets more time for its first row.
            for (int before = -1, now = 0, empty = 0; reader.isAlive() && (before < now || now == 0 && empty < 3); empty++) {
                before = now;
                reader.join(IDLE_MS);
                synchronized (found) {
                    now = found.size();
                }
            }
            if (failed != null) throw failed;
            synchronized (found) {
                found.forEach(rows::add);
            }
        }

        @Override
        public void close() throws Exception {
            closing = true;
            if (reader.isAlive() && result.getJobClient().isPresent()) result.getJobClient().get().cancel().get(20, TimeUnit.SECONDS);
            reader.join(5000);
        }
    }

    private static String row(Row row, List<Column> columns, boolean kind) {
        StringJoiner out = new StringJoiner(", ", "[", "]");
        if (kind) out.add(text(row.getKind().shortString()));
        for (int i = 0; i < columns.size(); i++) out.add(value(row.getField(i), columns.get(i).getDataType().getLogicalType()));
        return out.toString();
    }

    private static String value(Object v, LogicalType t) {
        if (v == null) return "null";
        switch (t.getTypeRoot()) {
            case BINARY: case VARBINARY: {
                StringBuilder hex = new StringBuilder();
                for (byte b : (byte[]) v) hex.append(String.format("%02x", b));
                return text(hex.toString());
            }
            case FLOAT: case DOUBLE: {
                double d = ((Number) v).doubleValue();
                return Double.isNaN(d) || Double.isInfinite(d) ? text(String.valueOf(d)) : String.valueOf(d);
            }
            case DECIMAL: {
                BigDecimal d = (BigDecimal) v;
                return text(d.signum() == 0 ? "0" : d.stripTrailingZeros().toPlainString());
            }
            case TINYINT: case SMALLINT: case INTEGER: case BIGINT: case BOOLEAN: return v.toString();
            case TIME_WITHOUT_TIME_ZONE: {
                LocalTime time = (LocalTime) v;
                return text(String.format("%02d:%02d:%02d", time.getHour(), time.getMinute(), time.getSecond()) + fraction(time.getNano()));
            }
            case TIMESTAMP_WITHOUT_TIME_ZONE: return timestamp((LocalDateTime) v);
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE: return timestamp(LocalDateTime.ofInstant((Instant) v, ZoneOffset.UTC));
            case ARRAY: {
                StringJoiner out = new StringJoiner(", ", "[", "]");
                LogicalType of = ((ArrayType) t).getElementType();
                for (int i = 0; i < Array.getLength(v); i++) out.add(value(Array.get(v, i), of));
                return out.toString();
            }
            case MAP: {
                TreeMap<String, String> sorted = new TreeMap<>();
                MapType of = (MapType) t;
                ((Map<?, ?>) v).forEach((k, e) -> sorted.put(value(k, of.getKeyType()), value(e, of.getValueType())));
                StringJoiner out = new StringJoiner(", ", "[", "]");
                sorted.forEach((k, e) -> out.add("[" + k + ", " + e + "]"));
                return out.toString();
            }
            case ROW: {
                StringJoiner out = new StringJoiner(", ", "[", "]");
                RowType of = (RowType) t;
                for (int i = 0; i < of.getFieldCount(); i++) out.add(value(((Row) v).getField(i), of.getTypeAt(i)));
                return out.toString();
            }
            default: return text(v.toString());
        }
    }

    private static String timestamp(LocalDateTime t) {
        return text(String.format("%04d-%02d-%02d %02d:%02d:%02d", t.getYear(), t.getMonthValue(), t.getDayOfMonth(), t.getHour(),
            t.getMinute(), t.getSecond()) + fraction(t.getNano()));
    }

    private static String fraction(int nano) {
        return nano == 0 ? "" : ("." + String.format("%09d", nano)).replaceAll("0+$", "");
    }

    private static String text(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < 0x20 || c == 0x7f) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        }
        return b.append('"').toString();
    }

    private static String causes(Throwable error) {
        ArrayList<String> out = new ArrayList<>(); // the first cause first
        for (Throwable x = error; x != null; x = x.getCause()) {
            String line = x.getClass().getSimpleName() + ": " + String.valueOf(x.getMessage()).split("\n\tat ")[0].strip();
            if (!out.contains(line)) out.add(0, line);
        }
        return String.join(" -> ", out);
    }
}
