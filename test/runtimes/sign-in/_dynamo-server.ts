/** AWS's client is loaded from where `AWS_CLIENT` says: it is a package of the emulator, which the compiler does not have. */
import { createRequire } from 'node:module'
import { type DynamoGrantClient, dynamoGrants } from 'mayfly-mcp/dynamodb'
import { createNotes } from './_notes.ts'

export default createNotes({
  store({ AWS_CLIENT, DYNAMO_URL, DYNAMO_TABLE }) {
    const { DynamoDB } = createRequire(String(AWS_CLIENT))('@aws-sdk/client-dynamodb') as {
      DynamoDB: new (options: object) => DynamoGrantClient
    }
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    const client = new DynamoDB({ endpoint: DYNAMO_URL, region: 'local', credentials })
    return dynamoGrants(client, { table: String(DYNAMO_TABLE) })
  },
})
