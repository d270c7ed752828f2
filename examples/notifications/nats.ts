/** Change notifications over NATS: `NATS_URL=nats://127.0.0.1:4222 npx mayfly dev nats.ts --target node`. */
import { connect } from '@nats-io/transport-node'
import { natsBus } from 'mayfly-mcp/nats'
import { createNotes } from './notes.ts'

const client = await connect({
  servers: process.env.NATS_URL ?? 'nats://127.0.0.1:4222',
  // By default the client gives up after ten attempts, for good.
  maxReconnectAttempts: -1,
})

export default createNotes(natsBus({ client }))
