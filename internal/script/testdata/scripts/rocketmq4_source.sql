CREATE TABLE rocketmq_source (`user_id` BIGINT,`item_id` BIGINT,`behavior` STRING) WITH (
'connector' = 'rocketmq4', -- 固定值
'rocketmq.client.endpoints' = 'http://rocketmq-xxx.rocketmq.gz.qcloud.tencenttdmq.com:9876',-- 接入点
'rocketmq.source.topic' = 'YourTopic', -- 主题
'rocketmq.source.group' = 'YourConsumerGroup', -- 分组
'rocketmq.client.accessKey' = 'YourAccessKey', -- 可选
'rocketmq.client.secretKey' = 'YourSecretKey' -- 可选
);
