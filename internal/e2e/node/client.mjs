// A client built on the TypeScript SDK that plays one script against one server.
//
// Reads {endpoint, script} from stdin as the Go side of the tests writes it
// (script_test.go documents every member), and writes what passed the wire to
// stdout, one JSON object per line, as it happens:
//   {"step", "dir": "in"|"out", "message"}   a message, as parsed by the SDK
//   {"step", "dir": "failure", "failure"}    a call that the SDK let fail
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { Desk, Recorder, sampledText } from './play.mjs';

function openTransport({ url, transport, command, args, env }) {
  if (command) return new StdioClientTransport({ command, args, env, stderr: 'inherit' });
  if (transport === 'sse') return new SSEClientTransport(new URL(url));
  return new StreamableHTTPClientTransport(new URL(url));
}

/** Records both directions without touching a message. */
function tap(transport, log) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    log.record({ dir: 'out', message });
    return send(message, options);
  };
  transport.onmessage = (message) => log.record({ dir: 'in', message });
}

function newClient(script, desk) {
  const client = new Client(
    { name: script.client, version: '1.0.0' },
    { capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } } },
  );
  client.setRequestHandler(ElicitRequestSchema, (r, { signal }) => desk.answer(r, signal, r.params.message));
  client.setRequestHandler(CreateMessageRequestSchema, (r, { signal }) =>
    desk.answer(r, signal, sampledText(r.params)),
  );
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: script.roots ?? [] }));
  return client;
}

function call(client, { method, params, progress }, signal) {
  const options = { signal, ...(progress && { onprogress: () => {} }) };
  switch (method) {
    case 'tools/list':
      return client.listTools(params, options);
    case 'tools/call':
      return client.callTool(params, undefined, options);
    case 'prompts/list':
      return client.listPrompts(params, options);
    case 'prompts/get':
      return client.getPrompt(params, options);
    case 'resources/list':
      return client.listResources(params, options);
    case 'resources/templates/list':
      return client.listResourceTemplates(params, options);
    case 'resources/read':
      return client.readResource(params, options);
    default:
      throw new Error(`the player does not know ${method}`);
  }
}

async function play(client, step, log, desk) {
  log.begin(step.name);
  desk.step = step;
  const abort = new AbortController();
  const calls = (step.requests ?? []).map((request) =>
    call(client, request, abort.signal).catch((error) => log.record({ dir: 'failure', failure: String(error) })),
  );
  if (step.cancelOn) {
    await log.until((tally) => tally.in[step.cancelOn] && tally.taken === tally.asked);
    abort.abort('cancelled by the script');
  }
  await Promise.all(calls);
  for (const [method, count] of Object.entries(step.await ?? {})) await log.untilSeen(method, count);
}

const { endpoint, script } = JSON.parse(readFileSync(0, 'utf8'));
const log = new Recorder();
const desk = new Desk(script, (code, message) => new McpError(code, message), log);
const client = newClient(script, desk);
const transport = openTransport(endpoint);
tap(transport, log);

await client.connect(transport);
for (const step of script.steps) await play(client, step, log, desk);
await transport.terminateSession?.();
await client.close();
