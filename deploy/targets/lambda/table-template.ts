/** Template of a DynamoDB table. Its name is CloudFormation's, so that another key can replace it. */

/** @param keys Lines of `Properties`: the attributes, the key and the indexes. */
export const tableOf = (name: string, keys: string): string => `  ${name}:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
    Properties:
      BillingMode: PAY_PER_REQUEST
${keys}      TimeToLiveSpecification: { AttributeName: ttl, Enabled: true }
`
