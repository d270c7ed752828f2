/** Additional resources for sign-in and MCP Events: a table for each. */

import { tableOf } from './table-template.ts'

/** What the members of `"mayfly"` in package.json are called: `"grants": "dynamodb"`. */
export const KEYED_TABLES = ['grants', 'events'] as const

export type KeyedTable = (typeof KEYED_TABLES)[number]

interface Parts {
  /** Its name in the template. */
  readonly resource: string
  readonly variable: string
  readonly policy: string
  /** For what the role may use. */
  readonly use: string
  /** What is in it. */
  readonly comment: string
}

const PARTS: { readonly [table in KeyedTable]: Parts } = {
  grants: {
    resource: 'Grants',
    variable: 'GRANTS_TABLE',
    policy: 'keep-connections',
    use: 'the table of connections',
    comment: 'Connections of people who signed in. Without it, everybody signs in again.',
  },
  events: {
    resource: 'Events',
    variable: 'EVENTS_TABLE',
    policy: 'keep-events',
    use: 'the table of events',
    comment: 'Subscriptions, events and what is to be delivered. Without it, all clients subscribe again.',
  },
}

/** In the template. */
export const resourceOf = (table: KeyedTable): string => PARTS[table].resource

/** Of the environment. */
export const variableOf = (table: KeyedTable): string => PARTS[table].variable

/** Of a function. */
export const keyedVariables = (tables: readonly KeyedTable[]): string =>
  tables.map((table) => `          ${PARTS[table].variable}: !Ref ${PARTS[table].resource}\n`).join('')

/** For the comment of the role. */
export const keyedUses = (tables: readonly KeyedTable[]): string =>
  tables.map((table) => ` and using ${PARTS[table].use}`).join('')

/** As required by `dynamoGrants` and `dynamoEvents`: the parts of a transaction are allowed one by one. */
export const keyedPolicies = (tables: readonly KeyedTable[]): string =>
  tables
    .map(
      (table) => `        - PolicyName: ${PARTS[table].policy}
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: [dynamodb:GetItem, dynamodb:PutItem, dynamodb:DeleteItem, dynamodb:ConditionCheckItem, dynamodb:Query]
                Resource: !GetAtt ${PARTS[table].resource}.Arn
`,
    )
    .join('')

const KEYS = `      AttributeDefinitions:
        - { AttributeName: pk, AttributeType: S }
        - { AttributeName: sk, AttributeType: S }
      KeySchema:
        - { AttributeName: pk, KeyType: HASH }
        - { AttributeName: sk, KeyType: RANGE }
`

/** As `dynamoGrantTable` and `dynamoEventTable` describe them. */
export const keyedResources = (tables: readonly KeyedTable[]): string =>
  tables.map((table) => `  # ${PARTS[table].comment}\n${tableOf(PARTS[table].resource, KEYS)}\n`).join('')
