/** The used parts of AWS's client; inlined, so that the types need no package. */

export type DynamoValue = { readonly S: string } | { readonly N: string } | { readonly BOOL: boolean }

export type DynamoItem = { readonly [attribute: string]: DynamoValue }

/** An item as the client returns it. */
export type KeptItem = {
  readonly [attribute: string]: {
    readonly S?: string | undefined
    readonly N?: string | undefined
    readonly BOOL?: boolean | undefined
  }
}

interface Names {
  readonly ExpressionAttributeNames: { readonly [name: string]: string } & Record<string, string>
}

interface Conditional extends Names {
  readonly TableName: string
  readonly ConditionExpression: string
  readonly ExpressionAttributeValues?: Record<string, DynamoValue>
}

/** `new DynamoDB({})` of `@aws-sdk/client-dynamodb`, or an object with these of its methods. */
export interface DynamoClient {
  /** Milliseconds by which AWS's clock is ahead of this machine's, which the client measures. */
  readonly config?: { readonly systemClockOffset?: number }
  getItem(input: {
    TableName: string
    Key: Record<string, DynamoValue>
    ConsistentRead: boolean
  }): Promise<{ Item?: KeptItem | undefined }>
  putItem(
    input: Conditional & { Item: Record<string, DynamoValue>; ReturnValues: 'ALL_OLD' },
  ): Promise<{ Attributes?: KeptItem | undefined }>
  updateItem(
    input: Conditional & {
      Key: Record<string, DynamoValue>
      UpdateExpression: string
      ReturnValues: 'UPDATED_NEW'
    },
  ): Promise<{ Attributes?: KeptItem | undefined }>
  deleteItem(input: Conditional & { Key: Record<string, DynamoValue> }): Promise<unknown>
  query(
    input: Names & {
      TableName: string
      IndexName: string
      KeyConditionExpression: string
      FilterExpression: string
      ExpressionAttributeValues: Record<string, DynamoValue>
      Limit: number
      ExclusiveStartKey?: Record<string, never>
    },
  ): Promise<{ Items?: KeptItem[] | undefined; LastEvaluatedKey?: object | undefined }>
  /** Only for `list`. */
  scan?(
    input: Names & {
      TableName: string
      ConsistentRead: boolean
      FilterExpression: string
      ExpressionAttributeValues: Record<string, DynamoValue>
      Limit: number
      ExclusiveStartKey?: Record<string, DynamoValue>
    },
  ): Promise<{ Items?: KeptItem[] | undefined; LastEvaluatedKey?: KeptItem | undefined }>
}

/** What a write demands of the item before it. */
export interface Demand {
  ConditionExpression: string
  ExpressionAttributeNames: Record<string, string>
  ExpressionAttributeValues: Record<string, DynamoValue>
}

interface Key {
  TableName: string
  Key: Record<string, DynamoValue>
}

/** One write of a transaction. */
export interface TransactItem {
  Put?: { TableName: string; Item: Record<string, DynamoValue> } & Partial<Demand>
  Delete?: Key & Partial<Demand>
  ConditionCheck?: Key & Demand
}

/** The same for a transactional store. */
export interface DynamoKeyedClient {
  readonly config?: { readonly systemClockOffset?: number }
  getItem(input: Key & { ConsistentRead: boolean }): Promise<{ Item?: KeptItem | undefined }>
  transactWriteItems(input: { TransactItems: TransactItem[] }): Promise<unknown>
  query(
    input: Names & {
      TableName: string
      ConsistentRead: boolean
      KeyConditionExpression: string
      FilterExpression: string
      ProjectionExpression: string
      ExpressionAttributeValues: Record<string, DynamoValue>
      Limit: number
      ExclusiveStartKey?: Record<string, DynamoValue>
    },
  ): Promise<{ Items?: KeptItem[] | undefined; LastEvaluatedKey?: KeptItem | undefined }>
}

/** The same, for `dynamoGrants`. */
export type DynamoGrantClient = DynamoKeyedClient
