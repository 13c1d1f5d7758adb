// A server of Node's http module, and a client that reads its answer with back-pressure. And a client
// of HTTP/2 over TLS with a window of this size for its stream, and 2 MiB for the connection; secrets
// go to the file that SSLKEYLOGFILE names.
//
//     streams.js serve SIZE | read SERVER BYTES_A_SECOND | each SERVER COUNT | h2 SERVER WINDOW
const fs = require('node:fs');
const http = require('node:http');
const http2 = require('node:http2');
const { Transform, Writable } = require('node:stream');
const { pipeline } = require('node:stream/promises');

const [what, ...given] = process.argv.slice(2);

// Takes pieces at a rate, as a disk or a next server would.
const slow = (rate) => new Writable({
  highWaterMark: 16384,
  write: (piece, _, done) => setTimeout(done, 1000 * piece.length / rate),
});

const get = (options) => new Promise((resolve, reject) => http.get(options, resolve).on('error', reject));

const act = {
  serve([size]) {
    http.createServer((request, response) => {
      response.setHeader('Content-Length', size);
      response.end(Buffer.alloc(Number(size)));
    }).listen(8080);
  },
  async read([server, rate]) {
    await pipeline(await get({ host: server, port: 8080 }), new Transform({
      transform: (piece, _, done) => done(null, piece),
    }), slow(Number(rate)));
  },
  // No agent that keeps connections: the default of Node until version 19.
  async each([server, count]) {
    for (let nth = 0; nth < Number(count); nth++) {
      const response = await get({ host: server, port: 8080, agent: new http.Agent({ keepAlive: false }) });
      for await (const _ of response);
    }
  },
  async h2([server, window]) {
    const session = http2.connect(`https://${server}`, {
      rejectUnauthorized: false, settings: { initialWindowSize: Number(window) },
    });
    session.socket.on('keylog', (line) => fs.appendFileSync(process.env.SSLKEYLOGFILE, line));
    session.on('connect', () => session.setLocalWindowSize(2 << 20));
    for await (const _ of session.request({ ':path': '/file?token=secret' }));
    session.close();
  },
};
act[what](given);
