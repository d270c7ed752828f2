/**
 * The suite's scenarios of authorization servers, against a server that people sign in to: with a client that has registered, and with one
 * that is known by its metadata document. The suite waits for a person with a browser, who is played here.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { testPort } from '../_port.ts'
import { signIn } from '../runtimes/auth/_browser.ts'
import { DOCUMENT } from './sign-in/document.ts'

/** Each kind of client has its checks in a folder of its own, below `output`. */
export async function runAuthorization(
  suite: string,
  endpoint: string,
  revision: string,
  output: { readonly registered: string; readonly document: string },
): Promise<void> {
  const { origin } = new URL(endpoint)
  for (const kind of ['registered', 'document'] as const) {
    const port = String(await testPort())
    const callback = `http://127.0.0.1:${port}/callback`
    const clientId = kind === 'document' ? DOCUMENT : await register(origin, callback)
    const which = [
      '--client-id',
      clientId,
      '--resource',
      endpoint,
      '--port',
      port,
      '--spec-version',
      revision,
    ]
    const child = spawn(
      process.execPath,
      [suite, 'authorization', '--url', origin, ...which, '-o', output[kind]],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await Promise.all([ended(child), playPerson(child, origin, callback)])
  }
}

async function register(origin: string, callback: string): Promise<string> {
  const response = await fetch(`${origin}/oauth/register`, {
    method: 'POST',
    // A connection of the last suite may end at this moment: the server closes those that are idle.
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ redirect_uris: [callback], token_endpoint_auth_method: 'none' }),
  })
  const { client_id: clientId } = (await response.json()) as { readonly client_id?: string }
  if (clientId === undefined) throw new Error(`The registration answered ${response.status}.`)
  return clientId
}

/** Opens the address that the suite prints, and agrees. */
async function playPerson(child: ChildProcess, origin: string, callback: string): Promise<void> {
  let start: string | undefined
  // To its end: a suite whose output nobody reads would stop.
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.startsWith(`${origin}/oauth/authorize?`)) start = line
    // Nobody listens at the callback before.
    if (start === undefined || !line.startsWith('Callback server started')) continue
    const from = new URL(start)
    signIn(from, callback)
      .then((back) => fetch(back))
      // Without an answer, the suite would wait for five minutes.
      .catch((error: unknown) => {
        console.error(error)
        child.kill()
      })
  }
}

const ended = (child: ChildProcess): Promise<unknown> => new Promise((done) => child.once('exit', done))
