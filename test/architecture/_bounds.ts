/** What ends each wait of `findAwaited`. A new call through a type needs a line here, and the bound that it claims. */

export interface Bound {
  readonly endedBy: string
  /** By file: `Interface.member` or `function.parameter` of what is called. */
  readonly waits: { readonly [file: string]: string }
}

export const BOUNDS: readonly Bound[] = [
  {
    endedBy:
      'what Events wait for in it: the store of events, `canSubscribe`, `replay`, the hooks, the runner and the sender, each with a limit of time; changes are tried twelve times',
    waits: {
      'adapters/_node/event-sender.ts': 'createLookup.resolve',
      'src/mcp-events/contract.ts': 'EventSender.post SignHeaders VerifyEndpoint',
      'src/mcp-events/core.ts': 'Operated.wake',
      'src/mcp-events/data.ts': 'Data.commit Data.keys Data.read untilMade.attempt',
      'src/mcp-events/event.ts': 'EventType.canSubscribe EventType.replay Hook',
      'src/mcp-events/held.ts': 'Held.change Held.reread',
      'src/mcp-events/one-at-a-time.ts': 'emitInTurn.store oneAtATime.step',
      'src/mcp-events/support.ts': 'EventControls.run',
      'src/mcp-events/waking.ts': 'Waking.emitted Waking.run',
      'src/mcp-events/watched.ts': 'Watched.requireAllowed',
      'src/extension/extension.ts': 'OwnExtension.notifyChanged',
      'src/request/extension-method.ts': 'ExtensionMethod.run',
    },
  },
  {
    endedBy:
      'what sign-in waits for in it: its store, its provider and the documents of clients, each with `withTimeout`',
    waits: {
      'src/sign-in/clients/documents.ts': 'Documents.client Documents.keep',
      'src/sign-in/clients/limits.ts': 'Allowance.count Allowance.giveBack',
      'src/sign-in/clients/public-keys.ts': 'KeysAt.allow',
      'src/sign-in/clients/machines.ts': 'KnownMachine.isSecret',
      'src/sign-in/keys.ts': 'SignInKeys.isTag SignInKeys.open SignInKeys.seal SignInKeys.tag',
      'src/sign-in/tokens/checks.ts': 'Checks.run Checks.run.check',
      'src/sign-in/tokens/library.ts':
        'LibraryHelpers.completeAuthorization LibraryHelpers.lookupClient LibraryHelpers.parseAuthRequest ' +
        'LibraryServer.fetch LibraryServer.validateToken',
      'src/sign-in/server.ts': 'answer.open',
      'src/sign-in/upstream/connection.ts': 'persistently.attempt',
      'src/sign-in/sign-in.ts': 'SignIn.serve SignIn.upstreamToken SignIn.verify',
      'src/sign-in/unit.ts': 'Unit.peek Unit.read createUnit.client inOneUnit.work',
    },
  },
  {
    endedBy: 'the time of the provider, up to 12 seconds for one answer; each request to it has `timeoutMs`',
    waits: {
      'src/sign-in/github.ts': 'checkMembership.ask guarded.work',
      'src/sign-in/upstream/openid.ts': 'createOpenId.guarded.work',
      'src/sign-in/upstream/openid/id-token.ts': 'inIdToken.check',
      'src/sign-in/upstream/openid/metadata.ts': 'Metadata',
      'src/sign-in/upstream/fetch.ts': 'UpstreamFetch',
      'src/sign-in/upstream/settings.ts': 'Setting readVariables.read',
    },
  },
  {
    endedBy: '`withTimeout`, for each answer: a typed error, and a line that names what did not answer',
    waits: {
      'src/gateway/list-cache.ts': 'Reading.load',
      'src/gateway/upstream.ts': 'credentialsOf.ask',
      'adapters/_hono/platform.ts': 'platformOfApp.env',
      'adapters/_node/event-store.ts':
        'EventStore.replayEventsAfter EventStore.replayEventsAfter.options.send ' + 'EventStore.storeEvent',
      'adapters/_node/hooks.ts': 'Hooks.onsessionclosed Hooks.onsessioninitialized',
      'adapters/hono.ts': 'HonoMcpOptions.auth',
      'src/auth/bearer.ts': 'VerifyToken',
      'src/auth/verifier.ts': 'Verifier.verify',
      'src/definition/part.ts': 'LoadPart',
      'src/definition/resource.ts': 'CanSubscribe',
      'src/keys/store.ts': 'KeyStore.create KeyStore.list KeyStore.read KeyStore.revoke KeyStore.use',
      'src/events/bus.ts': 'Bus.publish Bus.subscribe',
      'src/events/notifiable.ts': 'createNotifiable.publish',
      'src/events/subscription-store.ts':
        'SubscriptionStore.add SubscriptionStore.clear SubscriptionStore.list ' + 'SubscriptionStore.remove',
      'src/http/audit.ts': 'AuditOptions.arguments',
      'src/http/rate-limit.ts': 'RateLimiter.limit',
      'src/interaction/rendezvous.ts': 'Rendezvous.deliver Rendezvous.wait',
      'src/interaction/replay.ts': 'ReplayHooks.conclude',
      'src/interaction/steps.ts':
        'StepHooks.afterStep StepHooks.backOff StepHooks.beforeStep StepHooks.stepKey',
      'src/interaction/state.ts': 'SingleUseStore.claim',
      'src/mastra/validate-token.ts': 'ValidateToken',
      'src/otel/flush.ts': 'createFlush.flush',
      'src/protocol/engine-options.ts': 'Subscriptions.change Subscriptions.handleStream',
      'src/request/platform.ts': 'RequestPlatform.caller',
      'src/request/telemetry.ts': 'Span.run',
      'src/tasks/store.ts':
        'TaskRunner.wake TaskStore.clockOffsetMs TaskStore.create TaskStore.due TaskStore.list TaskStore.read TaskStore.replace TaskStore.stats',
      'src/keyed/given-store.ts': 'createStoreClock createStoreClock.inTime',
      'src/keyed/store.ts': 'KeyedStore.clockOffsetMs KeyedStore.commit KeyedStore.list KeyedStore.read',
      'src/sign-in/upstream/upstream.ts': 'Upstream.authorizeUrl Upstream.exchange Upstream.refresh',
      'src/webhook/events-handler.ts':
        'EventsHandlerOptions.onEvent EventsHandlerOptions.onNotice EventsHandlerOptions.secret',
      'src/webhook/replays.ts': 'WebhookStore.claim WebhookStore.release',
      'src/webhook/signature.ts': 'Verifier.secretOf Verifier.verify',
    },
  },
  {
    endedBy:
      'the call: `http.maxCallMs`, the platform’s deadline, the client; of a task `maxRunMs`; the page of a foreign server the same. What only code of the user calls itself, such as `upsert` of a store, is awaited by that code.',
    waits: {
      'src/gateway/relay.ts': 'Send',
      'src/extension/extension.ts': 'extension.parts.settings.given',
      'src/extension/method.ts': 'CallOptions.execute',
      'src/definition/agent.ts':
        'AgentLike.generate WorkflowLike.createRun WorkflowLike.createRunAsync ' +
        'WorkflowRun.cancel WorkflowRun.start',
      'src/definition/compiled-tool.ts': 'CompiledTool.toResult',
      'src/definition/completion.ts': 'Complete',
      'src/definition/context.ts': 'RequestContextValues.get',
      'src/definition/middleware.ts': 'Around.parse Around.run Around.toResult ToolMiddleware',
      'src/definition/prompt.ts':
        'AnyPrompt.get PromptCallbacks.getPromptMessages PromptCallbacks.listPrompts',
      'src/definition/resource.ts':
        'ResourceCallbacks.getResourceContent ResourceCallbacks.listResources ' +
        'ResourceCallbacks.resourceTemplates TemplateResourceConfig.read',
      'src/definition/schema.ts': 'CompiledSchema.validate',
      'src/definition/tool.ts': 'AnyTool.execute AnyTool.onInputAvailable toTool.call',
      'src/interaction/interaction.ts': 'createReplay.conclude',
      'src/interaction/question.ts': 'Question.validate withResult.toResult',
      'src/interaction/steps.ts': 'StepFunction',
      'src/interaction/step-options.ts': 'withinTime.attempt',
      'src/interaction/step-body.ts': 'NAMED.mayflyStepBody.fn',
      'src/mastra/hooks.ts': 'told.hook',
      'src/mastra/tool.ts': 'MastraTool.execute',
      'src/mastra/tool-actions.ts': 'createToolActions.notifyListChanged',
      'src/request/development.ts': 'Development.runTool',
      'src/request/options.ts': 'ServerOptions.setup',
      'src/sdk-context.ts': 'SdkServerConfig.setup',
      'src/request/sendable.ts': 'sendable.convert',
      'src/request/tools.ts': 'complete.write runValidated.fail runValidated.write',
      'src/sdk/foreign-middleware.ts': 'Send',
      'src/retrieval/ai-sdk.ts':
        'AiSdkEmbeddingModel.doEmbed AiSdkLanguageModel.doGenerate AiSdkRerankingModel.doRerank',
      'src/retrieval/embed.ts': 'AiBinding.run BoundEmbeddingModel.binding EmbedFunction ' + 'toEmbed',
      'src/retrieval/external-calls.ts': 'ask.act',
      'src/retrieval/options.ts': 'RequestValues.get RetrievalOptions.filter VectorStoreResolver',
      'src/retrieval/rerank.ts': 'RelevanceScorer.getRelevanceScore RerankFunction',
      'src/retrieval/store.ts':
        'SearchableStore.describeIndex SearchableStore.indexVersion SearchableStore.query ' +
        'VectorStore.deleteVectors VectorStore.describeIndex',
      'src/retrieval/stores/http.ts': 'CallStore',
      'src/retrieval/stores/libsql.ts': 'LibSqlClient.batch LibSqlClient.execute',
      'src/retrieval/stores/pg-client.ts': 'QueryingClient.query RunSql UnsafeClient.unsafe',
      'src/retrieval/stores/pinecone.ts': 'untilReady.describe',
      'src/retrieval/stores/vectorize.ts':
        'VectorizeBinding.deleteByIds VectorizeBinding.describe VectorizeBinding.query ' +
        'VectorizeBinding.upsert',
      'src/sdk/description.ts': 'withinCallLimit.look',
      'src/sdk/callback-context.ts': 'withCallbackContext.call',
      'src/sdk/from-sdk.ts': 'SdkServerFactory',
      'src/sdk/node-call.ts': 'Handler',
      'src/sdk/run.ts': 'ForeignAnswer.close RunForeign',
      'src/sdk/schema-memo.ts': 'Convert',
      'src/sdk/sdk-context.ts': 'SdkMcpRequest.requestState',
      'src/sdk/sdk-packages.ts': 'SdkHandler.fetch Transport.handleRequest',
      'src/sdk/sdk-server.ts': 'SdkServer.close SdkServer.connect',
    },
  },
  {
    endedBy: '`Ask` or `withTimeout` in the adapter, and the bound of the interface that it implements',
    waits: {
      'adapters/_cloudflare/durable-object.ts':
        'DurableObjectNamespace.get.fetch DurableObjectNamespace.idFromName',
      'adapters/_dynamodb/client.ts':
        'DynamoClient.deleteItem DynamoClient.getItem DynamoClient.putItem DynamoClient.query ' +
        'DynamoClient.scan DynamoClient.updateItem ' +
        'DynamoKeyedClient.getItem DynamoKeyedClient.query DynamoKeyedClient.transactWriteItems',
      'adapters/_postgres/receive.ts':
        'PgConnection.on PgConnection.query PgConnection.removeListener PgPool.connect ' +
        'PgPool.query PostgresSql.listen PostgresSql.unsafe receiveWithSql.registered.unlisten',
      'adapters/_postgres/run.ts': 'PostgresClient.query PostgresClient.unsafe Run',
      'adapters/_redis/channels.ts':
        'IoRedisSubscriber.on IoRedisSubscriber.subscribe NodeRedisSubscriber.subscribe ' +
        'NodeRedisSubscriber.unsubscribe onReady.emitter.on',
      'adapters/_redis/subscription-store.ts': 'IoRedisStoreClient.eval NodeRedisStoreClient.eval',
      'adapters/_redis/task-store.ts': 'IoRedisScripts.eval NodeRedisScripts.eval',
      'adapters/cloudflare-keys.ts': 'KVNamespace.get KVNamespace.list KVNamespace.put',
      'adapters/cloudflare-queues.ts': 'TaskQueue.send',
      'adapters/cloudflare-workflows.ts': 'TaskWorkflow.create TaskWorkflow.get',
      'adapters/cloudflare.ts': 'RateLimitBinding.limit',
      'adapters/lambda-durable.ts': 'DurableInvoker.invoke',
      'adapters/lambda-sqs.ts': 'SqsClient.changeMessageVisibility SqsClient.sendMessage',
      'adapters/nats.ts': 'NatsClient.flush',
      'adapters/redis.ts': 'IoRedisCounter.eval NodeRedisCounter.eval RedisPublisher.publish',
    },
  },
  {
    endedBy: 'the runtime or the transport itself: it ends with the connection, or with the invocation',
    waits: {
      'adapters/_bus/outages.ts': 'Emitter.on',
      'adapters/_cloudflare/durable-object.ts':
        'ObjectStorage.deleteAlarm ObjectStorage.deleteAll ObjectStorage.get ' +
        'ObjectStorage.getAlarm ObjectStorage.put ObjectStorage.setAlarm',
      'adapters/_fetch/plain-post.ts': 'Source.read',
      'adapters/_lambda/background.ts': 'Background.settled',
      'adapters/_lambda/stream.ts': 'ResponseStream.off ResponseStream.once',
      'adapters/_node/buffered-response.ts': 'Outgoing.end Outgoing.writeHead',
      'adapters/_node/key-use-file.ts': 'UseFile.add UseFile.read',
      'adapters/_node/session-registry.ts': 'HttpTransport.handleRequest',
      'adapters/_node/transport.ts': 'SdkTransport.close SdkTransport.send',
      'adapters/bun.ts': 'BunServer.stop',
      'adapters/cloudflare-workflows.ts': 'TaskWorkflowStep.do TaskWorkflowStep.sleepUntil',
      'adapters/lambda-durable.ts': 'DurableTaskContext.step DurableTaskContext.wait',
      'adapters/vercel.ts': 'Handler',
      'src/sdk/node-socket.ts': 'NodeSocket.destroy NodeSocket.on NodeSocket.once',
    },
  },
  {
    endedBy: 'not awaited',
    waits: {
      'src/definition/hook.ts': 'callHook.hook',
    },
  },
  {
    endedBy: 'our own code behind an interface: what it awaits is in this list',
    waits: {
      'src/gateway/merge.ts': 'addServer.add.compile',
      'src/request/gateway-support.ts':
        'GatewayHost.extensions.method GatewayHost.publish GatewaySupport.close GatewaySupport.definitionFor',
      'src/gateway/follow.ts': 'followServers',
      'src/gateway/tasks.ts': 'METHODS createTaskMethod.openFor',
      'src/gateway/upstream.ts': 'Relayed.close follow.end',
      'adapters/_bus/ask.ts': 'Ask Ask.command',
      'adapters/_bus/wire-bus.ts': 'Wire.send',
      'adapters/_cloudflare/socket-subscription.ts': 'SubscriptionOptions.connect',
      'adapters/_dynamodb/table.ts': 'Table.due Table.get Table.put Table.remove Table.scan Table.update',
      'adapters/_node/event-store.ts': 'createSessionStore.attempt.work',
      'adapters/_node/exchanges.ts': 'Exchanges.refusal',
      'adapters/_node/hono-listener.ts': 'Listen Serve',
      'adapters/_node/session-registry.ts': 'Registry.close Registry.open',
      'adapters/_node/sessions.ts': 'Sessions.close',
      'adapters/_node/stdio.ts': 'StdioServer.close',
      'adapters/_redis/channels.ts': 'Channels.add subscribeWith',
      'adapters/_tasks/slots.ts': 'Slots.free Slots.keep Slots.take createInSlot.create createInSlot.read',
      'adapters/_tasks/store-clock.ts': 'createMeasuredClock.measure.askTime',
      'adapters/_tasks/wakes.ts': 'Delivery.send TakeMessage',
      'adapters/cloudflare-alarms.ts': 'AlarmRunner.run',
      'adapters/cloudflare-tasks.ts': 'TaskServer.tasks.run',
      'adapters/postgres.ts': 'createSender.query',
      'src/auth/auth.ts': 'AnswerOwn Auth.admit Auth.keyStore',
      'src/keys/look-up.ts': 'LookUp',
      'src/sdk/host.ts': 'HostedServer.handle',
      'src/auth/circuit-breaker.ts': 'CircuitBreaker CircuitBreaker.ask createCircuitBreaker.askOther',
      'src/auth/introspection.ts': 'createIntrospector',
      'src/auth/static-tokens.ts': 'createTokenFinder',
      'src/events/coalesced-changes.ts': 'Subscription.next',
      'src/events/feed.ts': 'Feed.join',
      'src/events/notifiable.ts': 'Notifiable.notifyListChanged NotifiableLists.resources.notifyUpdated',
      'src/http/admit-caller.ts': 'AdmitCaller',
      'src/http/app.ts': 'App.serve Endpoint.admit Endpoint.answer Endpoint.owns Endpoint.read ServeOwn',
      'src/http/body.ts': 'readSmall.convert',
      'src/http/body-pieces.ts': 'ReadLarge',
      'src/http/callers.ts': 'WithCallers WithCallers.use',
      'src/http/guard.ts': 'Guard',
      'src/http/hono-auth.ts': 'honoAuth.next',
      'src/definition/for-env.ts': 'forEnv.given',
      'src/definition/flights.ts': 'Share.run Share.run.work',
      'src/definition/keep-unless-failed.ts': 'keepUnlessFailed keepUnlessFailed.make',
      'src/definition/part.ts': 'withPart.use',
      'src/http/mounted.ts': 'mounted.serveBeside mountedAt.serve',
      'src/http/other-methods.ts': 'AnswerOtherMethod SharedChecks.guard SharedChecks.traffic',
      'src/http/request-checks.ts': 'RequestChecks.admit RequestChecks.read',
      'src/http/routes.ts': 'ServerDescription.page',
      'src/http/traffic.ts': 'Traffic.count Traffic.countFailure Traffic.whileBlocked',
      'src/interaction/interaction.ts': 'Interaction.ask Interaction.askReturned Interaction.step',
      'src/interaction/decisions.ts': 'count.request',
      'src/interaction/replay.ts': 'during.work inStep.work',
      'src/interaction/question-keys.ts': 'KeyOf createQuestionKeys.during',
      'src/interaction/steps.ts': 'StepsCall.inStep StepsCall.over note.value',
      'src/interaction/sealing.ts': 'Seal.open Seal.seal',
      'src/otel/instruments.ts': 'createInstruments.create',
      'src/protocol/answer.ts': 'Run',
      'src/protocol/batch-answers.ts': 'inTurn.work',
      'src/protocol/batch-reply.ts': 'Serve',
      'src/protocol/other-messages.ts': 'Acceptor.accept Serving.serve',
      'src/protocol/changes.ts': 'ChangesOptions.put',
      'src/protocol/declared-token.ts': 'DeclaredTokens.read DeclaredTokens.write',
      'src/protocol/engine-options.ts': 'Checkpoint.count Checkpoint.enter OpenStream Recheck.verdict',
      'src/protocol/engine.ts': 'Answerer.answer Engine.parse Engine.serve',
      'src/protocol/held-stream.ts': 'HeldSource.ended HeldSource.next',
      'src/protocol/legacy.ts': 'ServeLegacy',
      'src/protocol/listen.ts': 'Hold Reserve ServeListen',
      'src/protocol/listen-later.ts': 'createListenLater.open.use',
      'src/protocol/modern.ts': 'createModern.later.use',
      'src/protocol/read-events.ts': 'readEvents.onData',
      'src/protocol/session-streams.ts': 'guard.attempt.work',
      'src/protocol/session.ts':
        'Session.receive Session.receiveText Session.settled SessionOptions.send relay.put',
      'src/protocol/traced.ts': 'ServeMessage run.serve',
      'src/protocol/turns.ts': 'Turn',
      'src/request/context.ts': 'Used.abortReason abort.reason elicit',
      'src/request/dispatch.ts': 'Method',
      // What `end` of a Node response returns is not awaited.
      'src/request/fetch-call.ts': 'Answerable.writeHead.end toFetch.handle',
      'src/request/options.ts': 'ServerOptions.publish',
      'src/request/platform.ts':
        'FetchServer.close FetchServer.fetch FetchServer.getDeploymentInfo FetchServer.handle',
      // What a stream of an extension is asked for waits no longer than its time, and half a second.
      'src/extension/held-call.ts': 'Begin Begun.next',
      'src/extension/join.ts': 'joinExtensions.first.select',
      'src/request/extension.ts':
        'ExtensionParts.listen Extensions.call Extensions.listen Extensions.translate',
      'src/request/telemetry.ts': 'Span.run.work',
      'src/request/wire.ts': 'ContextWire.publish',
      'src/mcp-events/admin/admin.ts': 'EventAdmin.answer',
      'src/tasks/admin/admin.ts': 'TaskAdmin.answer',
      'src/tasks/admin/gate.ts': 'Operations',
      'src/tasks/admission.ts': 'createThroughMiddleware.create',
      'src/tasks/call.ts': 'CallTask Create',
      'src/tasks/endpoint-secrets.ts':
        'EndpointSecrets.isSigned EndpointSecrets.isToken EndpointSecrets.sign',
      'src/tasks/fair-page.ts': 'fairPage.page',
      'src/tasks/run-options.ts': 'RunOptions.create',
      'src/tasks/runs.ts': 'TaskRuns.run TaskRuns.start',
      'src/tasks/support.ts': 'TaskControls.run TaskControls.runDue TaskControls.send',
      'src/tasks/store-time.ts': 'StoreClock.sync createStoreClock.bounded',
      'src/tasks/timed-waits.ts': 'Reach',
      // What `withTimeout` ends, and the run itself, which never waits for its span.
      'src/tasks/watch.ts': 'RunWatch.run RunWatch.run.work TaskWatch.queue',
      'src/tasks/task-records.ts':
        'TaskRecords.change TaskRecords.create TaskRecords.createKnown TaskRecords.due TaskRecords.dueElsewhere ' +
        'TaskRecords.putOff TaskRecords.read createTaskRecords.onDue',
    },
  },
]
