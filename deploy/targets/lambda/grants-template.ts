/** Additional resources for sign-in: the table of connections. */

/** As required by `dynamoGrants`: the parts of a transaction are allowed one by one. */
export const GRANT_POLICY = `        - PolicyName: keep-connections
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: [dynamodb:GetItem, dynamodb:PutItem, dynamodb:DeleteItem, dynamodb:ConditionCheckItem, dynamodb:Query]
                Resource: !GetAtt Grants.Arn
`

/** As `dynamoGrantTable` describes it. The table's name is CloudFormation's, so that another key can replace it. */
export const GRANT_RESOURCES = `  # Connections of people who signed in. Without it, everybody signs in again.
  Grants:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - { AttributeName: pk, AttributeType: S }
        - { AttributeName: sk, AttributeType: S }
      KeySchema:
        - { AttributeName: pk, KeyType: HASH }
        - { AttributeName: sk, KeyType: RANGE }
      TimeToLiveSpecification: { AttributeName: ttl, Enabled: true }

`
