// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"

// Codes of requests.
const (
	codeSend             = 10
	codePull             = 11
	codeQueryMessage     = 12
	codeCommitted        = 14
	codeCommit           = 15
	codeCreateTopic      = 17
	codeBrokerConfig     = 26
	codeSearchOffset     = 29
	codeMaxOffset        = 30
	codeMinOffset        = 31
	codeViewMessage      = 33
	codeHeartbeat        = 34
	codeUnregister       = 35
	codeEndTransaction   = 37
	codeConsumerList     = 38
	codeCheckTransaction = 39
	codeCheckClient      = 46
	codeRoute            = 105
	codeCluster          = 106
	codeCreateGroup      = 200
	codeSendV2           = 310
	codeSendBatch        = 320
	codeTopicConfig      = 351
	codeLitePull         = 361
)

// remotingHandler carries one code out. It returns the answer, or nil if it will
// reply by itself.
type remotingHandler struct {
	method Method
	run    func(*remotingCall) *remoting.Command
}

// brokerHandlers are what a broker answers, one file a request.
var brokerHandlers = map[int]remotingHandler{
	codeSend:           {RemotingSend, (*remotingCall).send},
	codeSendV2:         {RemotingSend, (*remotingCall).send},
	codeSendBatch:      {RemotingSendBatch, (*remotingCall).send},
	codePull:           {RemotingPull, (*remotingCall).pull},
	codeLitePull:       {RemotingPull, (*remotingCall).pull},
	codeQueryMessage:   {RemotingQueryMessage, (*remotingCall).queryMessage},
	codeViewMessage:    {RemotingViewMessage, (*remotingCall).viewMessage},
	codeCommitted:      {RemotingCommitted, (*remotingCall).committed},
	codeCommit:         {RemotingCommit, (*remotingCall).commit},
	codeBrokerConfig:   {RemotingBrokerConfig, (*remotingCall).brokerConfig},
	codeSearchOffset:   {RemotingSearchOffset, (*remotingCall).searchOffset},
	codeMaxOffset:      {RemotingMaxOffset, (*remotingCall).maxOffset},
	codeMinOffset:      {RemotingMinOffset, (*remotingCall).minOffset},
	codeHeartbeat:      {RemotingHeartbeat, (*remotingCall).heartbeat},
	codeUnregister:     {RemotingUnregister, (*remotingCall).unregister},
	codeConsumerList:   {RemotingConsumerList, (*remotingCall).consumerList},
	codeCreateTopic:    {RemotingCreateTopic, (*remotingCall).createTopic},
	codeTopicConfig:    {RemotingTopicConfig, (*remotingCall).topicConfig},
	codeCreateGroup:    {RemotingCreateGroup, (*remotingCall).createGroup},
	codeCheckClient:    {RemotingCheckClient, (*remotingCall).checkClient},
	codeEndTransaction: {RemotingEndTransaction, (*remotingCall).endTransaction},
}

// nameServerHandlers are what the name server answers.
var nameServerHandlers = map[int]remotingHandler{
	codeRoute:   {RemotingRoute, (*remotingCall).route},
	codeCluster: {RemotingCluster, (*remotingCall).cluster},
}

func handlersOf(e *endpoint) map[int]remotingHandler {
	if e.broker < 0 {
		return nameServerHandlers
	}
	return brokerHandlers
}

func methodOf(e *endpoint, code int) Method {
	if h, ok := handlersOf(e)[code]; ok {
		return h.method
	}
	return RemotingOther
}
