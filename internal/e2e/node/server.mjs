// A server of the modern era built on the TypeScript SDK, with the asking tools
// of askserver (Go). It serves revision 2026-07-28 and no other, unless told:
//   node server.mjs stdio          over stdio
//   node server.mjs http           over HTTP, on every path of a free port of this machine
//   node server.mjs stdio legacy   over stdio, clients of earlier revisions as well
// Over HTTP it writes one line to stderr, "server: listening on http://HOST:PORT".
//
// Everything it says is a function of what it is told: the answers it got come
// back inside the result of the call. It remembers nothing.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer, createMcpHandler, createRequestStateCodec, fromJsonSchema, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

/** The form of askserver, with its fields out of alphabetical order. */
const fields = {
  type: 'object',
  properties: {
    zeta: { type: 'string', title: 'Text', minLength: 1 },
    alpha: { type: 'integer', title: 'Count', minimum: 1, maximum: 100 },
    mid: { type: 'number', title: 'Ratio', default: 1.5 },
    beta: { type: 'string', enum: ['yes', 'no', 'later'] },
  },
  required: ['zeta'],
};

const form = (message) => inputRequired.elicit({ mode: 'form', message, requestedSchema: fields });

const reportText = (report) => JSON.stringify({ ...report, server: 'ask' });
const report = (members) => ({ content: [{ type: 'text', text: reportText(members) }] });

/** One answer as the reports show it. */
const told = (message, { action, content }) => ({ message, action, ...(content && { content }) });

const codec = createRequestStateCodec({ key: randomBytes(32) });

/**
 * Asks the questions, a map, and finishes with their answers. Answers may come in
 * parts; those that are there are kept in the request state until all are.
 */
async function asking({ mcpReq }, questions, finish) {
  const answers = { ...(mcpReq.requestState()?.answers ?? {}), ...(mcpReq.inputResponses ?? {}) };
  const missing = Object.entries(questions).filter(([key]) => !(key in answers));
  if (missing.length === 0) return finish(answers);
  return inputRequired({ inputRequests: Object.fromEntries(missing), requestState: await codec.mint({ answers }) });
}

/** Asks the messages one after the other. */
async function askInRounds({ mcpReq }, messages) {
  const answers = [...(mcpReq.requestState()?.answers ?? [])];
  const answer = mcpReq.inputResponses?.[`round-${answers.length}`];
  if (answer) answers.push(told(messages[answers.length], answer));
  if (answers.length === messages.length) return report({ answers });
  return inputRequired({
    inputRequests: { [`round-${answers.length}`]: form(messages[answers.length]) },
    requestState: await codec.mint({ answers }),
  });
}

async function reportProgress({ mcpReq }, steps) {
  const progressToken = mcpReq._meta?.progressToken;
  for (let step = 1; progressToken !== undefined && step <= steps; step++) {
    const params = { progressToken, progress: step, total: steps, message: `step ${step} of ${steps}` };
    await mcpReq.notify({ method: 'notifications/progress', params });
  }
  return report({ steps });
}

const string = { type: 'string' };
const input = (properties) => ({
  inputSchema: fromJsonSchema({ type: 'object', properties, required: Object.keys(properties) }),
});

function newServer() {
  const server = new McpServer({ name: 'ask', version: '1.0.0' }, { requestState: { verify: codec.verify } });
  const tool = (name, properties, handler) => server.registerTool(name, { description: name, ...input(properties) }, handler);

  tool('echo', { text: string }, ({ text }) => report({ text }));
  tool('ask_form', { message: string }, ({ message }, ctx) =>
    asking(ctx, { form: form(message) }, (answers) => report(told(message, answers.form))),
  );
  tool('ask_twice', { first: string, second: string }, ({ first, second }, ctx) =>
    asking(ctx, { first: form(first), second: form(second) }, (answers) =>
      report({ answers: [told(first, answers.first), told(second, answers.second)] }),
    ),
  );
  tool('ask_rounds', { messages: { type: 'array', items: string } }, ({ messages }, ctx) => askInRounds(ctx, messages));
  tool('ask_url', { url: string, id: string }, ({ url }, ctx) => {
    const message = `Please visit ${url}`;
    return asking(ctx, { visit: inputRequired.elicitUrl({ message, url }) }, (answers) => report(told(message, answers.visit)));
  });
  tool('sample', { prompt: string }, ({ prompt }, ctx) => {
    const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
    return asking(ctx, { completion: inputRequired.createMessage({ messages, maxTokens: 4096 }) }, (answers) => report(answers.completion));
  });
  tool('roots', {}, (_, ctx) => asking(ctx, { roots: inputRequired.listRoots() }, (answers) => report(answers.roots)));
  tool('progress', { steps: { type: 'integer' } }, ({ steps }, ctx) => reportProgress(ctx, steps));

  server.registerPrompt('ask_prompt', { description: 'Asks by form before it answers.', argsSchema: input({ message: string }).inputSchema }, ({ message }, ctx) =>
    asking(ctx, { form: form(message) }, (answers) => ({
      messages: [{ role: 'user', content: { type: 'text', text: reportText(told(message, answers.form)) } }],
    })),
  );
  server.registerResource('ask_resource', 'ask://resource', { mimeType: 'application/json' }, (uri, ctx) =>
    asking(ctx, { form: form(`Reading ${uri.href}`) }, (answers) => ({
      contents: [{ uri: uri.href, mimeType: 'application/json', text: reportText(told(`Reading ${uri.href}`, answers.form)) }],
    })),
  );
  return server;
}

/** Serves the SDK's web-standard handler with Node's server. */
async function serve(handler, req, res) {
  const gone = new AbortController();
  res.on('close', () => res.writableFinished || gone.abort());
  const body = [];
  for await (const chunk of req) body.push(chunk);
  const response = await handler.fetch(
    new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method,
      headers: req.headers,
      ...(body.length > 0 && { body: Buffer.concat(body) }),
      signal: gone.signal,
    }),
  );
  res.writeHead(response.status, Object.fromEntries(response.headers));
  res.flushHeaders();
  for await (const chunk of response.body ?? []) res.write(chunk);
  res.end();
}

const [transport, era] = process.argv.slice(2);
const legacy = era === 'legacy' ? 'serve' : 'reject';
if (transport === 'stdio') {
  serveStdio(newServer, { legacy });
} else {
  const handler = createMcpHandler(newServer, { legacy });
  const web = createServer((req, res) => serve(handler, req, res).catch(() => res.destroy())); // the client went away
  web.listen(0, '127.0.0.1', () => process.stderr.write(`server: listening on http://127.0.0.1:${web.address().port}\n`));
}
