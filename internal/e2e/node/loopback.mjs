// Preloaded with `node --import`: every server of the process listens on
// 127.0.0.1, whatever it asked for, and says on stderr where. Peers that bind
// all interfaces and have no flag for it are tested unedited this way; with
// PORT=0 they also get a free port that the test can read.
import net from 'node:net';

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
  const callback = args.findLast((arg) => typeof arg === 'function');
  const asked = typeof args[0] === 'object' ? args[0] : { port: Number(args[0]) };
  this.once('listening', () => {
    process.stderr.write(`loopback: listening on http://127.0.0.1:${this.address().port}\n`);
  });
  return listen.call(this, { ...asked, host: '127.0.0.1' }, callback);
};
