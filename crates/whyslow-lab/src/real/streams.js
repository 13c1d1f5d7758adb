// A server of Node's http module, and a client that reads its answer with back-pressure.
//
//     streams.js serve SIZE | read SERVER BYTES_A_SECOND | each SERVER COUNT
const http = require('node:http');
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
};
act[what](given);
