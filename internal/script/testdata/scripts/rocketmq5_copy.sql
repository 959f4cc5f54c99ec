-- 源表
CREATE TABLE rocketmq_source (`user_id` BIGINT,`item_id` BIGINT,`behavior` STRING) WITH (
'connector' = 'rocketmq5', -- 固定值
'rocketmq.client.endpoints' = 'rmq-xxx.rocketmq.gz.qcloud.tencenttdmq.com:8080',-- 接入点
'rocketmq.source.topic' = 'YourTopic', -- 主题
'rocketmq.source.group' = 'YourConsumerGroup', -- 分组
'rocketmq.source.startup.scan.mode' = 'earliest', -- 可选
'rocketmq.client.accessKey' = 'YourAccessKey', -- 可选
'rocketmq.client.secretKey' = 'YourSecretKey' -- 可选
);
-- 结果表
CREATE TABLE rocketmq_sink (`user_id` BIGINT,`item_id` BIGINT,`behavior` STRING) WITH (
'connector' = 'rocketmq5', -- 固定值
'rocketmq.sink.topic' = 'YourTopic', -- 主题
'rocketmq.client.endpoints' = 'rmq-xxx.rocketmq.gz.qcloud.tencenttdmq.com:8080',-- 接入点
'rocketmq.client.accessKey' = 'YourAccessKey', -- 可选
'rocketmq.client.secretKey' = 'YourSecretKey' -- 可选
);
INSERT INTO rocketmq_sink SELECT * FROM rocketmq_source;
