/** The shop in one process, with people alone. */
import { createMemoryGrants } from 'mayfly-mcp/sign-in'
import { createShop, shopSignIn } from './_sign-in-shop.ts'

export default createShop(shopSignIn(createMemoryGrants(), process.env))
