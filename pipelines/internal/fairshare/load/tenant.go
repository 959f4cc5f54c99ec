// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import "strings"

// Tenant is the tenant that a lite topic belongs to: what stands before the
// first hyphen, or all of it.
func Tenant(liteTopic string) string {
	tenant, _, _ := strings.Cut(liteTopic, "-")
	return tenant
}
