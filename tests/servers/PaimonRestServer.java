import java.util.HashMap;
import java.util.Map;
import org.apache.paimon.rest.RESTCatalogServer;
import org.apache.paimon.rest.auth.BearTokenAuthProvider;
import org.apache.paimon.rest.responses.ConfigResponse;

/** Paimon's own REST server of its tests: a folder, a warehouse's name and a token; prints its address; ends with its input. */
public class PaimonRestServer {
    public static void main(String[] args) throws Exception {
        Map<String, String> defaults = new HashMap<>();
        defaults.put("prefix", "paimon");
        ConfigResponse config = new ConfigResponse(defaults, new HashMap<>());
        RESTCatalogServer server = new RESTCatalogServer(args[0], new BearTokenAuthProvider(args[2]), config, args[1]);
        server.start();
        System.out.println(server.getUrl());
        System.in.read();
        server.shutdown();
        System.exit(0);
    }
}
