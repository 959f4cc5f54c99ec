// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

// Codes of the requests that this package sends or understands.
const (
	codeSend             = 10
	codePull             = 11
	codeQueryMessage     = 12
	codeQueryCommitted   = 14
	codeCommit           = 15
	codeCreateTopic      = 17
	codeBrokerConfig     = 26
	codeSearchOffset     = 29
	codeMaxOffset        = 30
	codeMinOffset        = 31
	codeHeartbeat        = 34
	codeUnregister       = 35
	codeEndTransaction   = 37
	codeCheckTransaction = 39
	codeCheckClient      = 46
	codeRoute            = 105
	codeCluster          = 106
	codeCreateGroup      = 200
	codeSendV2           = 310
	codeSendBatch        = 320
	codeTopicConfig      = 351
)

// Codes of answers.
const (
	CodeSuccess                = 0
	CodeSystemError            = 1
	CodeSystemBusy             = 2
	CodeRequestNotSupported    = 3
	CodeTransactionFailed      = 4
	CodeFlushDiskTimeout       = 10
	CodeSlaveNotAvailable      = 11
	CodeFlushSlaveTimeout      = 12
	CodeMessageIllegal         = 13
	CodeServiceNotAvailable    = 14
	CodeVersionNotSupported    = 15
	CodeNoPermission           = 16
	CodeTopicNotExist          = 17
	CodePullNotFound           = 19
	CodePullRetryImmediately   = 20
	CodePullOffsetMoved        = 21
	CodeQueryNotFound          = 22
	CodeSubscriptionParse      = 23
	CodeSubscriptionNotExist   = 24
	CodeSubscriptionNotLatest  = 25
	CodeGroupNotExist          = 26
	CodeFilterDataNotExist     = 27
	CodeFilterDataNotLatest    = 28
	CodeInvalidParameter       = 29
	CodePollingFull            = 209
	CodePollingTimeout         = 210
	CodeBrokerNotExist         = 211
	CodeFlowControl            = 215
	CodeNotLeaderForQueue      = 501
	CodeIllegalOperation       = 604
	CodeGoAway                 = 1500
	CodeLiteQuotaExceeded      = 2017
	CodeLiteSubscriptionsQuota = 2018
	CodeUserNotExist           = 3001
	CodePolicyNotExist         = 3002
)

// codeNames are for errors.
var codeNames = map[int]string{
	CodeSystemError:            "SYSTEM_ERROR",
	CodeSystemBusy:             "SYSTEM_BUSY",
	CodeRequestNotSupported:    "REQUEST_CODE_NOT_SUPPORTED",
	CodeTransactionFailed:      "TRANSACTION_FAILED",
	CodeFlushDiskTimeout:       "FLUSH_DISK_TIMEOUT",
	CodeSlaveNotAvailable:      "SLAVE_NOT_AVAILABLE",
	CodeFlushSlaveTimeout:      "FLUSH_SLAVE_TIMEOUT",
	CodeMessageIllegal:         "MESSAGE_ILLEGAL",
	CodeServiceNotAvailable:    "SERVICE_NOT_AVAILABLE",
	CodeVersionNotSupported:    "VERSION_NOT_SUPPORTED",
	CodeNoPermission:           "NO_PERMISSION",
	CodeTopicNotExist:          "TOPIC_NOT_EXIST",
	CodePullNotFound:           "PULL_NOT_FOUND",
	CodePullRetryImmediately:   "PULL_RETRY_IMMEDIATELY",
	CodePullOffsetMoved:        "PULL_OFFSET_MOVED",
	CodeQueryNotFound:          "QUERY_NOT_FOUND",
	CodeSubscriptionParse:      "SUBSCRIPTION_PARSE_FAILED",
	CodeSubscriptionNotExist:   "SUBSCRIPTION_NOT_EXIST",
	CodeSubscriptionNotLatest:  "SUBSCRIPTION_NOT_LATEST",
	CodeGroupNotExist:          "SUBSCRIPTION_GROUP_NOT_EXIST",
	CodeFilterDataNotExist:     "FILTER_DATA_NOT_EXIST",
	CodeFilterDataNotLatest:    "FILTER_DATA_NOT_LATEST",
	CodeInvalidParameter:       "INVALID_PARAMETER",
	CodePollingFull:            "POLLING_FULL",
	CodePollingTimeout:         "POLLING_TIMEOUT",
	CodeBrokerNotExist:         "BROKER_NOT_EXIST",
	CodeFlowControl:            "FLOW_CONTROL",
	CodeNotLeaderForQueue:      "NOT_LEADER_FOR_QUEUE",
	CodeIllegalOperation:       "ILLEGAL_OPERATION",
	CodeGoAway:                 "GO_AWAY",
	CodeLiteQuotaExceeded:      "LMQ_QUOTA_EXCEEDED",
	CodeLiteSubscriptionsQuota: "LITE_SUBSCRIPTION_QUOTA_EXCEEDED",
	CodeUserNotExist:           "USER_NOT_EXIST",
	CodePolicyNotExist:         "POLICY_NOT_EXIST",
}
