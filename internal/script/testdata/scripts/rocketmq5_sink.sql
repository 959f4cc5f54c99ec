CREATE TABLE rocketmq_sink (`user_id` BIGINT,`item_id` BIGINT,`behavior` STRING) WITH (
'connector' = 'rocketmq5', -- 固定值
'rocketmq.sink.topic' = 'YourTopic', -- 主题
'rocketmq.client.endpoints' = 'rmq-xxx.rocketmq.gz.qcloud.tencenttdmq.com:8080',-- 接入点
'rocketmq.client.accessKey' = 'YourAccessKey', -- 可选
'rocketmq.client.secretKey' = 'YourSecretKey' -- 可选
);
