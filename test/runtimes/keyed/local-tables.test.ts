/** The suite of every transactional store, with AWS's client over the table that `mayfly dev --target lambda` starts. */
import { expect, it } from 'vitest'
import { dynamoEvents, dynamoGrants } from '../../../adapters/dynamodb.ts'
import { startLocalTables } from '../../../deploy/targets/lambda/local-tables.ts'
import { startProxy } from '../tasks/stores/_proxy.ts'
import { connectDynamo } from './_dynamo.ts'
import { keyedStoreSuite } from './_suite.ts'

keyedStoreSuite('the local table for Lambda', async () => {
  const { GRANTS_TABLE: table = '', AWS_ENDPOINT_URL_DYNAMODB: endpoint = '' } = await startLocalTables([
    'grants',
  ])
  const { port, cut, silent, mute, stop } = await startProxy(Number(new URL(endpoint).port))
  return {
    async connect(options) {
      const client = connectDynamo(port)
      return { store: dynamoGrants(client, { table, ...options }), close: () => client.destroy() }
    },
    outages: { cut, silent },
    mute,
    stop: async () => stop(),
  }
})

it('connections and events have tables of their own', async () => {
  const variables = await startLocalTables(['grants', 'events'])
  const client = connectDynamo(Number(new URL(variables.AWS_ENDPOINT_URL_DYNAMODB!).port))
  const grants = dynamoGrants(client, { table: variables.GRANTS_TABLE! })
  const events = dynamoEvents(client, { table: variables.EVENTS_TABLE! })
  expect(await events.commit('a'.repeat(32), [{ key: 'e:1', value: 'event' }])).toBe(true)
  expect((await events.read('e:1'))?.value).toBe('event')
  expect((await grants.list({ prefix: '', limit: 10 })).keys).toEqual([])
  client.destroy()
})
