/** The suite of every transactional store, with AWS's client over the table that `mayfly dev --target lambda` starts. */
import { dynamoGrants } from '../../../adapters/dynamodb.ts'
import { startLocalGrants } from '../../../deploy/targets/lambda/local-grants.ts'
import { startProxy } from '../tasks/stores/_proxy.ts'
import { connectDynamo } from './_dynamo.ts'
import { keyedStoreSuite } from './_suite.ts'

keyedStoreSuite('the local table for Lambda', async () => {
  const { GRANTS_TABLE: table = '', AWS_ENDPOINT_URL_DYNAMODB: endpoint = '' } = await startLocalGrants()
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
