/** On Lambda's own runtime client, with connections in DynamoDB: by AWS's client, over an emulator with transactions. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'
import { type Dynamo, startDynamo, TABLE } from '../../keyed/_dynamo.ts'
import { type Built, buildFunction } from '../../lambda/_function.ts'
import { signInFlow } from '../_flow.ts'

const AWS_CLIENT = fileURLToPath(new URL('../../tasks/stores/dynalite/package.json', import.meta.url))

let built: Built
let dynamo: Dynamo
beforeAll(async () => {
  dynamo = await startDynamo()
  built = await buildFunction('../sign-in/_dynamo-server.ts')
})
afterAll(async () => {
  built?.[Symbol.dispose]()
  await dynamo?.stop()
})

signInFlow('Lambda with DynamoDB', {
  async start(variables, port) {
    const store = { AWS_CLIENT, DYNAMO_URL: `http://127.0.0.1:${dynamo.port}`, DYNAMO_TABLE: TABLE }
    const running = await built.start({ trigger: 'function-url', port, env: { ...variables, ...store } })
    return { url: running.url, stop: () => Promise.resolve(running[Symbol.asyncDispose]()) }
  },
  vouchesForHost: true,
})
