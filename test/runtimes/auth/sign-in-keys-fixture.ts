/** The shop in one process, with people, and machines that have an API key. */
import { anyOf } from 'mayfly-mcp/auth'
import { apiKeys } from 'mayfly-mcp/keys'
import { fileKeyStore } from 'mayfly-mcp/node'
import { createMemoryGrants } from 'mayfly-mcp/sign-in'
import { createShop, shopSignIn } from './_sign-in-shop.ts'

const keys = apiKeys({ store: fileKeyStore(process.env.KEY_FILE ?? 'keys.json') })

export default createShop(anyOf([shopSignIn(createMemoryGrants(), process.env), keys]))
