// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

// liteDiskFull is what the proxy of 5.5.0 makes of the broker's answer: its
// text, as an internal error, since it has no code for it.
func liteDiskFull() *v2.SendMessageResponse {
	return &v2.SendMessageResponse{Status: &v2.Status{
		Code: v2.Code_INTERNAL_SERVER_ERROR, Message: diskFull,
	}}
}
