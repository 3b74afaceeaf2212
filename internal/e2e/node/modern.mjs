// A client built on the TypeScript SDK of the modern era that plays one script
// against one server, like client.mjs. Its argument is how it negotiates: "auto",
// "legacy", or a revision that it insists on.
//
// What it writes is not what passed the wire but what its user sees of it: calls
// and their outcome, questions and their answer, progress. A call that asks is one
// call, however many requests it took, and all is told in the words of the legacy
// era, so that the transcripts of both eras can be compared.
import { readFileSync } from 'node:fs';
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Desk, Recorder, sampledText } from './play.mjs';

function openTransport({ url, command, args, env }) {
  if (command) return new StdioClientTransport({ command, args, env, stderr: 'inherit' });
  return new StreamableHTTPClientTransport(new URL(url));
}

let calls = 0;
let questions = 0;

/** Answers a question and records both. */
async function answer(log, desk, request, signal, question) {
  const id = `question-${++questions}`;
  log.record({ dir: 'in', message: { jsonrpc: '2.0', id, method: request.method, params: request.params } });
  try {
    const result = await desk.answer(request, signal, question);
    log.record({ dir: 'out', message: { jsonrpc: '2.0', id, result } });
    return result;
  } catch (error) {
    log.record({ dir: 'out', message: { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } } });
    throw error;
  }
}

/**
 * Has the client roots? Only if the script calls a tool for them: server-everything asks
 * whoever has some, outside of any call and at a moment of its own.
 */
function rootsOf(script) {
  const wanted = script.steps.some(({ requests }) => (requests ?? []).some(({ params }) => params?.name === 'roots'));
  return wanted ? { roots: {} } : {};
}

function newClient(script, mode, log, desk) {
  const client = new Client(
    { name: script.client, version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, ...rootsOf(script) },
      versionNegotiation: { mode: ['auto', 'legacy'].includes(mode) ? mode : { pin: mode } },
    },
  );
  const handle = (method, handler) => client.setRequestHandler(method, (request, ctx) => handler(request, ctx.mcpReq.signal));
  handle('elicitation/create', (request, signal) => answer(log, desk, request, signal, request.params.message));
  handle('sampling/createMessage', (request, signal) => answer(log, desk, request, signal, sampledText(request.params)));
  if (rootsOf(script).roots) handle('roots/list', (request, signal) => answer(log, desk, request, signal));
  return client;
}

function send(client, { method, params, progress }, log) {
  const options = progress && {
    onprogress: ({ progressToken, ...params }) =>
      log.record({ dir: 'in', message: { jsonrpc: '2.0', method: 'notifications/progress', params } }),
  };
  switch (method) {
    case 'tools/list':
      return client.listTools(params, options);
    case 'tools/call':
      return client.callTool(params, options);
    case 'prompts/get':
      return client.getPrompt(params, options);
    case 'resources/read':
      return client.readResource(params, options);
    default:
      throw new Error(`the player does not know ${method}`);
  }
}

async function call(client, request, log) {
  const id = ++calls;
  const { method, params } = request;
  log.record({ dir: 'out', message: { jsonrpc: '2.0', id, method, params } });
  try {
    log.record({ dir: 'in', message: { jsonrpc: '2.0', id, result: await send(client, request, log) } });
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    log.record({ dir: 'in', message: { jsonrpc: '2.0', id, error: { code: error.code, message: error.message, data: error.data } } });
  }
}

async function play(client, step, log, desk) {
  log.begin(step.name);
  // The questions of one call come in rounds. Nobody can hold back the first of
  // them until the second is there.
  desk.step = (step.requests ?? []).length > 1 ? step : { ...step, hold: 0 };
  await Promise.all((step.requests ?? []).map((request) => call(client, request, log)));
  for (const [method, count] of Object.entries(step.await ?? {})) await log.untilSeen(method, count);
}

const { endpoint, script } = JSON.parse(readFileSync(0, 'utf8'));
const log = new Recorder();
const desk = new Desk(script, (code, message) => new ProtocolError(code, message), log);
const client = newClient(script, process.argv[2], log, desk);
await client.connect(openTransport(endpoint));
for (const step of script.steps) await play(client, step, log, desk);
await client.close();
