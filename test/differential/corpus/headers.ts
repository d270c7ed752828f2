/** `Accept`, `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`, `Origin` and other headers around good bodies. */
import { type Changes, inBase64, legacy, modern } from './_entry.ts'

const ECHO = { name: 'echo', arguments: { text: 'hi' } }

const accepting = (accept: string | undefined, id: string) => [
  modern(`accept ${id}@modern`, 'tools/list', {}, { headers: { accept } }),
  legacy(`accept ${id}@legacy`, 'tools/list', {}, { headers: { accept } }),
]

const echo = (id: string, headers: Changes['headers'] = {}) => modern(id, 'tools/call', ECHO, { headers })

const region = (id: string, args: object, headers: Changes['headers'] = {}) =>
  modern(id, 'tools/call', { name: 'region', arguments: args }, { headers })

export const headersCorpus = [
  ...accepting(undefined, 'missing'),
  ...accepting('*/*', 'anything'),
  ...accepting('application/json', 'JSON alone'),
  ...accepting('text/event-stream', 'a stream alone'),
  ...accepting('text/event-stream, application/json', 'both, the other way round'),
  ...accepting('application/json;q=0.9, text/event-stream;q=1', 'both with weights'),
  ...accepting('application/*', 'application/*'),
  ...accepting('text/html', 'HTML'),
  ...accepting('', 'the empty string'),
  ...accepting('Application/JSON, Text/Event-Stream', 'both in capitals'),

  echo('Mcp-Method missing', { 'mcp-method': undefined }),
  echo('Mcp-Method of another method', { 'mcp-method': 'tools/list' }),
  echo('Mcp-Method in capitals', { 'mcp-method': 'TOOLS/CALL' }),
  echo('Mcp-Method empty', { 'mcp-method': '' }),
  echo('Mcp-Method with spaces around', { 'mcp-method': '  tools/call ' }),
  echo('Mcp-Method in Base64', { 'mcp-method': inBase64('tools/call') }),
  echo('Mcp-Name missing', { 'mcp-name': undefined }),
  echo('Mcp-Name of another tool', { 'mcp-name': 'add' }),
  echo('Mcp-Name in capitals', { 'mcp-name': 'ECHO' }),
  echo('Mcp-Name empty', { 'mcp-name': '' }),
  echo('Mcp-Name with spaces around', { 'mcp-name': ' echo ' }),
  echo('Mcp-Name in Base64', { 'mcp-name': inBase64('echo') }),
  echo('Mcp-Name in Base64 of another tool', { 'mcp-name': inBase64('add') }),
  echo('Mcp-Name in Base64 without padding', { 'mcp-name': '=?base64?ZWNobw?=' }),
  echo('Mcp-Name in URL-safe Base64', { 'mcp-name': '=?base64?_-__?=' }),
  echo('Mcp-Name in broken Base64', { 'mcp-name': '=?base64?!!!?=' }),
  echo('Mcp-Name in Base64 of no UTF-8', { 'mcp-name': '=?base64?//8=?=' }),
  echo('Mcp-Name in Base64 of nothing', { 'mcp-name': '=?base64??=' }),
  echo('Mcp-Name in Base64 in capitals', { 'mcp-name': '=?BASE64?ZWNobw==?=' }),
  echo('Mcp-Name not ASCII', { 'mcp-name': 'ech\u00f6' }),
  modern('Mcp-Name on a method without a name', 'tools/list', {}, { headers: { 'mcp-name': 'echo' } }),
  modern(
    'Mcp-Name missing for resources/read',
    'resources/read',
    { uri: 'doc://readme' },
    {
      headers: { 'mcp-name': undefined },
    },
  ),
  modern(
    'Mcp-Name of another resource',
    'resources/read',
    { uri: 'doc://readme' },
    {
      headers: { 'mcp-name': 'doc://logo' },
    },
  ),
  modern(
    'Mcp-Name missing for prompts/get',
    'prompts/get',
    { name: 'hello' },
    {
      headers: { 'mcp-name': undefined },
    },
  ),
  modern(
    'Mcp-Name where the body has none',
    'tools/call',
    { arguments: {} },
    {
      headers: { 'mcp-name': 'echo' },
    },
  ),
  modern('Mcp-Name where the body has a number', 'tools/call', { name: 5 }, { headers: { 'mcp-name': '5' } }),
  legacy('Mcp-Method and Mcp-Name wrong in the legacy era', 'tools/call', ECHO, {
    headers: { 'mcp-method': 'tools/list', 'mcp-name': 'add' },
  }),

  region('Mcp-Param right', { region: 'eu' }, { 'mcp-param-region': 'eu' }),
  region('Mcp-Param missing', { region: 'eu' }),
  region('Mcp-Param of another value', { region: 'eu' }, { 'mcp-param-region': 'us' }),
  region('Mcp-Param in Base64', { region: 'Zürich' }, { 'mcp-param-region': inBase64('Zürich') }),
  region('Mcp-Param in Base64 of another value', { region: 'eu' }, { 'mcp-param-region': inBase64('us') }),
  region('Mcp-Param in broken Base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?*?=' }),
  region(
    'Mcp-Param for an absent argument',
    { region: 'eu' },
    {
      'mcp-param-region': 'eu',
      'mcp-param-priority': '3',
    },
  ),
  region(
    'Mcp-Param integer right',
    { region: 'eu', priority: 3 },
    {
      'mcp-param-region': 'eu',
      'mcp-param-priority': '3',
    },
  ),
  region(
    'Mcp-Param integer written 3.0',
    { region: 'eu', priority: 3 },
    {
      'mcp-param-region': 'eu',
      'mcp-param-priority': '3.0',
    },
  ),
  region(
    'Mcp-Param integer written 0x3',
    { region: 'eu', priority: 3 },
    {
      'mcp-param-region': 'eu',
      'mcp-param-priority': '0x3',
    },
  ),
  region(
    'Mcp-Param integer written 3e0',
    { region: 'eu', priority: 3 },
    {
      'mcp-param-region': 'eu',
      'mcp-param-priority': '3e0',
    },
  ),
  region('Mcp-Param integer missing', { region: 'eu', priority: 3 }, { 'mcp-param-region': 'eu' }),
  region(
    'Mcp-Param boolean right',
    { region: 'eu', urgent: true },
    {
      'mcp-param-region': 'eu',
      'mcp-param-urgent': 'true',
    },
  ),
  region(
    'Mcp-Param boolean in capitals',
    { region: 'eu', urgent: true },
    {
      'mcp-param-region': 'eu',
      'mcp-param-urgent': 'TRUE',
    },
  ),
  region('Mcp-Param for a null argument', { region: null }, {}),
  region('Mcp-Param for an argument of another type', { region: 5 }, { 'mcp-param-region': '5' }),
  region('Mcp-Param for an object argument', { region: {} }, { 'mcp-param-region': 'x' }),
  modern('Mcp-Param nobody declared', 'tools/call', ECHO, { headers: { 'mcp-param-text': 'other' } }),
  modern('Mcp-Param where arguments are missing', 'tools/call', { name: 'region' }),
  legacy('Mcp-Param missing in the legacy era', 'tools/call', {
    name: 'region',
    arguments: { region: 'eu' },
  }),

  legacy('a foreign origin on a public host', 'ping', {}, { headers: { origin: 'https://app.example' } }),
  {
    ...legacy('a foreign origin on localhost', 'ping', {}, { headers: { origin: 'https://evil.example' } }),
    url: 'http://localhost:8787/mcp',
  },
  {
    ...legacy('a local origin on localhost', 'ping', {}, { headers: { origin: 'http://localhost:5173' } }),
    url: 'http://localhost:8787/mcp',
  },
  {
    ...modern('the null origin on localhost', 'tools/list', {}, { headers: { origin: 'null' } }),
    url: 'http://localhost:8787/mcp',
  },
  { ...modern('another path', 'tools/list'), url: 'https://mcp.example/a/b/c?d=e' },
  { ...modern('the root path', 'tools/list'), url: 'https://mcp.example/' },
  legacy('an authorization header nobody asked for', 'ping', {}, { headers: { authorization: 'Bearer x' } }),
  legacy('a very long header', 'ping', {}, { headers: { 'x-long': 'x'.repeat(16_384) } }),
  legacy('content-length that lies', 'ping', {}, { headers: { 'content-length': '3' } }),
]
