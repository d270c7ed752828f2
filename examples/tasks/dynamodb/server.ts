/** Tasks in DynamoDB, in a project of your own with the packages that package.json names: `npx mayfly dev server.ts`. */
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { dynamoTaskStore } from 'mayfly-mcp/dynamodb'
import { createTasks } from 'mayfly-mcp/tasks'
import { createReports } from '../reports.ts'

/** The deployment makes the table, and `mayfly dev` one on this machine: "tasks" in package.json. */
const { TASKS_TABLE: table = 'tasks' } = process.env

export default createReports(createTasks({ store: dynamoTaskStore(new DynamoDB({}), { table }) }))
