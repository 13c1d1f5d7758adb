import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;

/** HttpURLConnection as it is: one request after the other, or one large body. */
public class Urls {
    public static void main(String[] given) throws Exception {
        var url = new URL(given[1]);
        if (given[0].equals("get")) {
            for (int nth = 0; nth < Integer.parseInt(given[2]); nth++) {
                try (var answer = url.openStream()) {
                    answer.readAllBytes();
                }
            }
            return;
        }
        var connection = (HttpURLConnection) url.openConnection();
        long size = Long.parseLong(given[2]);
        connection.setRequestMethod("PUT");
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(size);
        byte[] piece = new byte[8192];
        try (OutputStream body = connection.getOutputStream()) {
            for (long sent = 0; sent < size; sent += piece.length) {
                body.write(piece, 0, (int) Math.min(piece.length, size - sent));
            }
        }
        if (connection.getResponseCode() >= 300) {
            System.exit(1);
        }
    }
}
