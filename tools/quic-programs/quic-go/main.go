// HTTP/3 programs over quic-go, with the arguments of crates/whyslow-lab/src/real/quic.py.
//
//	quic-go serve|get KEY=VALUE...
//
// serve: think=SECONDS, chunk=BYTES every=SECONDS, stall=SECONDS stall_after=BYTES.
// get:   server=ADDRESS, size=BYTES, upload=BYTES, count=REQUESTS, pause=SECONDS, read=BYTES per
// second.
// Both:  window=BYTES, stream_window=BYTES (both fixed), keys=FILE, qlog=FOLDER, port=PORT.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlog"
)

var given = map[string]string{}

func number(name string, otherwise float64) float64 {
	word, ok := given[name]
	if !ok {
		return otherwise
	}
	value, err := strconv.ParseFloat(word, 64)
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return value
}

func pause(name string) {
	time.Sleep(time.Duration(number(name, 0) * float64(time.Second)))
}

func configuration() *quic.Config {
	window := uint64(number("window", 16<<20))
	streamWindow := uint64(number("stream_window", 16<<20))
	config := &quic.Config{
		InitialConnectionReceiveWindow: window, MaxConnectionReceiveWindow: window,
		InitialStreamReceiveWindow: streamWindow, MaxStreamReceiveWindow: streamWindow,
		MaxIdleTimeout: time.Minute,
	}
	if folder, ok := given["qlog"]; ok {
		os.Setenv("QLOGDIR", folder)
		config.Tracer = qlog.DefaultConnectionTracer
	}
	return config
}

func secrets(config *tls.Config) *tls.Config {
	if name, ok := given["keys"]; ok {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			log.Fatal(err)
		}
		config.KeyLogWriter = file
	}
	return config
}

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"quic.example"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}
}

func respond(out http.ResponseWriter, request *http.Request) {
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		log.Print(err)
		return
	}
	pause("think")
	left, err := strconv.Atoi(request.URL.Query().Get("size"))
	if err != nil {
		out.WriteHeader(http.StatusBadRequest)
		return
	}
	out.Header().Set("Server", "quic-go")
	out.Header().Set("Content-Length", strconv.Itoa(left))
	body := make([]byte, 65536)
	chunk, sent, stalled := int(number("chunk", 1<<30)), 0, false
	for left > 0 {
		if number("stall", 0) > 0 && !stalled && sent >= int(number("stall_after", 1)) {
			stalled = true
			out.(http.Flusher).Flush()
			pause("stall")
		}
		piece := min(left, chunk, len(body))
		if _, err := out.Write(body[:piece]); err != nil {
			log.Print(err)
			return
		}
		left -= piece
		sent += piece
		if number("every", 0) > 0 {
			out.(http.Flusher).Flush()
			pause("every")
		}
	}
}

func serve() error {
	port := fmt.Sprintf(":%d", int(number("port", 4433)))
	server := &http3.Server{
		Addr: port, Handler: http.HandlerFunc(respond), QUICConfig: configuration(),
		TLSConfig: http3.ConfigureTLSConfig(secrets(&tls.Config{Certificates: []tls.Certificate{certificate()}})),
	}
	// The path waits for a listening TCP port.
	if _, err := net.Listen("tcp", port); err != nil {
		return err
	}
	return server.ListenAndServe()
}

func get() error {
	transport := &http3.Transport{
		QUICConfig:      configuration(),
		TLSClientConfig: secrets(&tls.Config{InsecureSkipVerify: true, ServerName: "quic.example"}),
		Dial: func(ctx context.Context, _ string, tlsConfig *tls.Config, config *quic.Config) (*quic.Conn, error) {
			server := net.JoinHostPort(given["server"], strconv.Itoa(int(number("port", 4433))))
			return quic.DialAddrEarly(ctx, server, tlsConfig, config)
		},
	}
	defer transport.Close()
	address := fmt.Sprintf("https://quic.example/file?size=%d&token=secret", int(number("size", 1000)))
	for nth := range int(number("count", 1)) {
		if nth > 0 {
			pause("pause")
		}
		method, body := http.MethodGet, io.Reader(nil)
		if upload := int(number("upload", 0)); upload > 0 {
			method, body = http.MethodPost, bytes.NewReader(make([]byte, upload))
		}
		request, err := http.NewRequest(method, address, body)
		if err != nil {
			return err
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return err
		}
		if err := take(response.Body); err != nil {
			return err
		}
	}
	return nil
}

// Reads a body, at most read= bytes per second.
func take(body io.ReadCloser) error {
	defer body.Close()
	rate, start, taken := number("read", 0), time.Now(), 0
	buffer := make([]byte, 4096)
	for {
		got, err := body.Read(buffer)
		taken += got
		if rate > 0 {
			time.Sleep(time.Until(start.Add(time.Duration(float64(taken) / rate * float64(time.Second)))))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("quic-go: serve or get, and its arguments")
	}
	for _, word := range os.Args[2:] {
		name, value, found := strings.Cut(word, "=")
		if !found {
			log.Fatalf("quic-go: %s is not KEY=VALUE", word)
		}
		given[name] = value
	}
	run := serve
	if os.Args[1] == "get" {
		run = get
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
