/** The CloudFormation template of the role that a GitHub workflow assumes to deploy. Created once, by hand. */

/** Permissions for the task table, the queue and the schedule. */
const tasksStatements = (name: string): string => `              - Effect: Allow
                Action: dynamodb:*
                Resource: !Sub arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${name}-*
              - Effect: Allow
                Action: scheduler:*
                Resource: !Sub arn:\${AWS::Partition}:scheduler:\${AWS::Region}:\${AWS::AccountId}:schedule/default/${name}-*
              - Effect: Allow
                Action: sqs:*
                Resource: !Sub arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:${name}-*
              # Event source mappings cannot be named.
              - Effect: Allow
                Action: [lambda:CreateEventSourceMapping, lambda:GetEventSourceMapping, lambda:UpdateEventSourceMapping, lambda:DeleteEventSourceMapping, lambda:ListTags, lambda:TagResource]
                Resource: '*'
`

/** Permissions for `sam deploy` and the stack of `template.ts`, restricted by the stack's name if AWS allows it. */
export function githubRole(name: string, hasTasks = false): string {
  return `AWSTemplateFormatVersion: '2010-09-09'
Description: Lets the workflow .github/workflows/deploy.yml deploy ${name}, without a stored key
# Run once, with your own login. Repository is your repository as in GitHub's token, with the ids of its owner and its own:
#   gh api repos/<owner>/<name> --jq '"\\(.owner.login)@\\(.owner.id)/\\(.name)@\\(.id)"'
#   aws cloudformation deploy --template-file aws/github-role.yaml --stack-name ${name}-github \\
#     --capabilities CAPABILITY_IAM --parameter-overrides Repository=<owner>@<its number>/<name>@<its number>
#   aws cloudformation describe-stacks --stack-name ${name}-github --query 'Stacks[0].Outputs'
# For a repository from before 2026-07-15 that was not renamed, transferred or opted in since, use <owner>/<name>; its OIDC settings show which:
# https://github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens/
# An account has one provider for GitHub. If yours already has it, add ProviderArn=arn:aws:iam::<account>:oidc-provider/token.actions.githubusercontent.com

Parameters:
  Repository:
    Type: String
    Description: As GitHub's token names it, owner@1234/name@5678, or owner/name for one from before 2026-07-15
    AllowedPattern: ^[\\w.-]+(@\\d+/[\\w.-]+@\\d+|/[\\w.-]+)$
  Environment:
    Type: String
    Default: production
    Description: The GitHub environment that may deploy. Its settings restrict which branches and tags may use it, by default all; forks cannot.
  ProviderArn:
    Type: String
    Default: ''
    Description: ARN of the account's provider for GitHub. If empty, one is created.

Conditions:
  MakesProvider: !Equals [!Ref ProviderArn, '']

Resources:
  Provider:
    Type: AWS::IAM::OIDCProvider
    Condition: MakesProvider
    Properties:
      Url: https://token.actions.githubusercontent.com
      ClientIdList: [sts.amazonaws.com]

  Role:
    Type: AWS::IAM::Role
    Properties:
      MaxSessionDuration: 3600
      AssumeRolePolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Federated: !If [MakesProvider, !Ref Provider, !Ref ProviderArn] }
            Action: sts:AssumeRoleWithWebIdentity
            Condition:
              StringEquals:
                token.actions.githubusercontent.com:aud: sts.amazonaws.com
                token.actions.githubusercontent.com:sub: !Sub repo:\${Repository}:environment:\${Environment}
      Policies:
        - PolicyName: deploy
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: cloudformation:*
                Resource:
                  - !Sub arn:\${AWS::Partition}:cloudformation:\${AWS::Region}:\${AWS::AccountId}:stack/${name}/*
                  - !Sub arn:\${AWS::Partition}:cloudformation:\${AWS::Region}:\${AWS::AccountId}:stack/${name}-secrets/*
                  - !Sub arn:\${AWS::Partition}:cloudformation:\${AWS::Region}:\${AWS::AccountId}:stack/aws-sam-cli-managed-default/*
                  - !Sub arn:\${AWS::Partition}:cloudformation:\${AWS::Region}:aws:transform/Serverless-2016-10-31
              - Effect: Allow
                Action: [cloudformation:GetTemplateSummary, cloudformation:ValidateTemplate, logs:DescribeLogGroups, secretsmanager:GetRandomPassword]
                Resource: '*'
              - Effect: Allow
                Action: s3:*
                Resource:
                  - !Sub arn:\${AWS::Partition}:s3:::aws-sam-cli-managed-default-*
              - Effect: Allow
                Action: lambda:*
                Resource: !Sub arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${name}-*
              - Effect: Allow
                Action: logs:*
                Resource: !Sub arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:${name}-*
              - Effect: Allow
                Action: cloudwatch:*
                Resource: !Sub arn:\${AWS::Partition}:cloudwatch:\${AWS::Region}:\${AWS::AccountId}:alarm:${name}-*
              - Effect: Allow
                Action: apigateway:*
                Resource: !Sub arn:\${AWS::Partition}:apigateway:\${AWS::Region}::*
              # CloudFormation names the generated secret Secret-…; the other one is in a separate stack.
              - Effect: Allow
                Action: secretsmanager:*
                Resource:
                  - !Sub arn:\${AWS::Partition}:secretsmanager:\${AWS::Region}:\${AWS::AccountId}:secret:Secret-*
                  - !Sub arn:\${AWS::Partition}:secretsmanager:\${AWS::Region}:\${AWS::AccountId}:secret:${name}-*
              - Effect: Allow
                Action:
                  - iam:CreateRole
                  - iam:DeleteRole
                  - iam:GetRole
                  - iam:UpdateRole
                  - iam:ListRolePolicies
                  - iam:ListAttachedRolePolicies
                  - iam:TagRole
                  - iam:UntagRole
                  - iam:PassRole
                  - iam:PutRolePolicy
                  - iam:GetRolePolicy
                  - iam:DeleteRolePolicy
                  - iam:UpdateAssumeRolePolicy
                Resource:
                  - !Sub arn:\${AWS::Partition}:iam::\${AWS::AccountId}:role/${name}-Role-*
${hasTasks ? `                  - !Sub arn:\${AWS::Partition}:iam::\${AWS::AccountId}:role/${name}-CronFunction*\n` : ''}${hasTasks ? tasksStatements(name) : ''}
Outputs:
  RoleArn:
    Description: The variable AWS_ROLE_ARN of GitHub's environment
    Value: !GetAtt Role.Arn
`
}
