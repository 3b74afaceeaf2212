// What the players of all SDKs share: the log, and the answers by the rules of a
// script (script_test.go documents every member).

/** Prints the wire log, counts what the current step has seen, and wakes whoever waits for more. */
export class Recorder {
  #step = 'connect';
  #waiting = [];
  tally = { asked: 0, taken: 0, answered: 0, in: {} };

  begin(step) {
    this.#step = step;
    this.tally = { asked: 0, taken: 0, answered: 0, in: {} };
  }

  record(frame) {
    process.stdout.write(JSON.stringify({ step: this.#step, ...frame }) + '\n');
    const { method, id } = frame.message ?? {};
    if (frame.dir === 'in' && method !== undefined) {
      if (id !== undefined) this.tally.asked++;
      this.tally.in[method] = (this.tally.in[method] ?? 0) + 1;
    } else if (frame.dir === 'out' && method === undefined) {
      this.tally.answered++;
    }
    this.#wake();
  }

  /** Notes that a handler has taken up a question; returns how many were before it in this step. */
  take() {
    const before = this.tally.taken++;
    this.#wake();
    return before;
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async until(condition) {
    while (!condition(this.tally)) await new Promise((wake) => this.#waiting.push(wake));
  }

  untilSeen(method, count) {
    return this.until((tally) => (tally.in[method] ?? 0) >= count);
  }
}

/** Answers what the server asks, by the rules of the current step. */
export class Desk {
  /** newError makes the error of the SDK in use from a code and a message. */
  constructor(script, newError, log) {
    this.script = script;
    this.newError = newError;
    this.log = log;
  }

  async answer(request, signal, question) {
    const step = this.step ?? {};
    const mine = this.log.take();
    const text = JSON.stringify(request.params ?? {});
    const rule = (step.answers ?? []).find((r) => r.method === request.method && text.includes(r.contains ?? ''));
    if (!rule && request.method === 'roots/list') return { roots: this.script.roots ?? [] };
    if (!rule) throw this.newError(-32603, `no answer scripted for ${request.method}`);
    if (rule.never) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw signal.reason ?? new Error('withdrawn');
    }
    if (step.hold) {
      await this.log.until((tally) => tally.asked >= step.hold && tally.answered === step.hold - 1 - mine);
    }
    if (rule.error) throw this.newError(rule.error.code, rule.error.message);
    return fill(rule.result, { $client: this.script.client, $question: question });
  }
}

/** Puts the values into every string of a result. */
function fill(value, values) {
  if (typeof value === 'string') {
    return Object.entries(values).reduce((text, [name, v]) => text.replaceAll(name, () => v), value);
  }
  if (Array.isArray(value)) return value.map((v) => fill(v, values));
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v, values)]));
  }
  return value;
}

/** The text of the last message to be sampled. */
export function sampledText({ messages }) {
  const content = [messages.at(-1)?.content].flat()[0];
  return content?.text ?? '';
}
