import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** Iceberg's own REST catalog of its tests over a JDBC catalog in a folder; prints its address; ends with its input. */
public class IcebergRestServer {
    public static void main(String[] args) throws Exception {
        JdbcCatalog catalog = new JdbcCatalog();
        catalog.setConf(new Configuration());
        catalog.initialize("rest", Map.of(
            "warehouse", args[0], "uri", "jdbc:sqlite:" + args[0] + "/catalog.db", "clients", "1",
            "io-impl", "org.apache.iceberg.hadoop.HadoopFileIO"));
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler handler = new ServletContextHandler();
        handler.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
        server.setHandler(handler);
        server.start();
        System.out.println("http://127.0.0.1:" + connector.getLocalPort());
        System.in.read();
        server.stop();
        System.exit(0);
    }
}
