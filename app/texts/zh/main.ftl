# 简体中文。键与 en/main.ftl 相同；texts.rs 的测试会检查。

## 每一页

brand = 秒杀
skip = 跳到正文
main-ways = 主导航
menu = 菜单
shops = 商铺
my-orders = 我的订单
admin = 管理
sign-in = 登录
sign-up = 注册
sign-out = 退出登录
other-language = English
footer = 名额真实，先到先得。订单存妥之后，才会显示“抢购成功”。
money = ¥{ $amount }
to-front-page = 回到首页
to-shops = 全部商铺
try-again = 再试一次
optional = 选填

## 首页与商铺

home-title = 限时抢购
home-lead = 附近商铺的代金券，数量有限，准点开抢。
on-sale = 正在秒杀与即将开始
all-shops = 全部商铺
search-words = 商铺名称或地址
all-categories = 全部分类
search = 搜索
no-shops = 没有找到符合条件的商铺。
no-shops-hint = 换个短一点的词，或者看看全部分类。
more-shops = 更多商铺
vouchers = 秒杀券
no-vouchers = 这家商铺目前没有秒杀券。
no-vouchers-hint = 别家正有，去看看现在能抢什么。

## 秒杀券

voucher = 秒杀券
voucher-number = { $id } 号秒杀券
shop = 商铺
price = 抢购价
face-value = 面值
saving = 立省
saving-of = { $amount }（{ $percent }%）
saved-percent = 省 { $percent }%
begins = 开抢时间
ends = 结束时间
ended-at = 已于此时结束
begins-in = 距开抢
ends-in = 距结束
days = { $days } 天
units-left = 剩余 { $left } 张
units-left-of = 剩余 { $left } 张，共 { $granted } 张
phase-not_started = 即将开始
phase-running = 抢购中
phase-sold_out = 已抢完
phase-ended = 已结束
phase-closed = 暂停抢购
button-not_started = 秒杀尚未开始
button-running = 立即抢购
button-sold_out = 已抢完
button-ended = 秒杀已经结束
button-closed = 暂时不能抢购
change-not_started = 秒杀尚未开始。
change-running = 秒杀已经开始，可以抢购了。
change-sold_out = 已经抢完了。
change-ended = 秒杀已经结束。
change-closed = 抢购已暂停。
sending = 正在提交…
sign-in-to-buy = 登录后抢购
own-order = 您已抢购过这张券，不能重复下单。
see-order = 查看我的订单
outcome-sold_out = 库存不足：已经抢完了，没有为您下单。
outcome-not_started = 秒杀尚未开始，没有为您下单。请到点再抢。
outcome-ended = 秒杀已经结束，没有为您下单。
outcome-closed = 现在暂停抢购，没有为您下单。请稍后再试。

## 账户

no-account = 还没有账户？
has-account = 已经有账户了？
title-wrong = 需要修改：{ $title }
check-fields = 有几项需要修改，请看标出的地方。
field-name = 名称
field-name-hint = 2 到 32 个字，登录时使用。
field-password = 密码
field-password-hint = 8 到 128 个字符。
account = 账户
role-shopper = 顾客
role-clerk = 店员
role-admin = 管理员
change-password = 修改密码
changed-password = 密码已修改，其他设备上的登录都已退出。
field-current-password = 当前密码
field-new-password = 新密码
field-new-password-hint = 8 到 128 个字符，不要用人人都会先试的密码。
delete-account = 注销账户
delete-account-explained = 您的名称和密码将被删除，所有设备上的登录都会退出。已存妥的订单会留在商家处，但不再带有您的名称，您也无法再出示。此操作无法撤销。
delete-for-good = 确认注销

## 商铺柜台

desk = 柜台
field-order = 订单号
field-order-hint = 顾客在订单页面上出示的号码。
look-up = 查询
no-such-order = 这里没有已存妥的此号订单。若订单仍在排队，请稍后再试。

## 订单

order = 订单详情
order-number = 订单号
accepted-at = 抢购时间
no-orders = 您还没有订单。
no-orders-hint = 抢购之后会立刻列在这里，排队中的也在。
see-sales = 看看现在能抢什么
status-queued = 排队中
status-confirmed = 抢购成功
status-refused = 未能抢到
status-queued-hint = 名额已为您留下，正在登记订单。本页会自动更新。
status-confirmed-hint = 订单已经存妥，这张券是您的了。
status-refused-hint = 这个订单没有成功，名额已经退回。
reason-already_bought = 每人限购一张，您已有这张券的另一个订单，以那个订单为准。
reason-sold_out = 登记时名额已经用完，没有抢到。您可以看看其他秒杀券。
reason-discarded = 订单无法登记，已由工作人员取消，名额已退回。您可以再抢一次。
reason-lost = 系统故障中丢失了这个订单，没有扣款。您可以再抢一次。
reason-id_clash = 订单号发生了冲突，订单没有成立。您可以再抢一次。
slow = 比平时慢一些。您的订单在队列里，不会丢失；可以先关闭本页，稍后到“我的订单”查看。
live-order = 查看有效的订单
timeline = 订单进度
just-now = 刚刚
step-asked = 提交抢购
step-asked-hint = 您按下了按钮，订单有了号码。
step-accepted = 抢到名额
step-accepted-hint = 已为您留出一张。
step-queued = 正在登记
step-queued-hint = 通常只要几秒。超过 30 秒也不会丢：名额仍是您的，不必再抢。可以关闭本页，结果会显示在“我的订单”里。
step-confirmed = 登记完成，归您所有
step-confirmed-hint = 到店出示本页或订单号即可使用。
step-refused = 没有成交
step-refused-hint = 名额已退回，无需付款。
signed-out = 登录已经过期，登录后可继续查看。

## 管理

sales = 秒杀管理
no-sales = 还没有秒杀。
no-sales-hint = 先新建商铺，再创建它的第一场秒杀。
new-sale = 新建秒杀
create-sale = 创建秒杀
sale-created = 秒杀已创建。
see-voucher = 查看秒杀券
new-shop = 新建商铺
create-shop = 创建商铺
no-shop-yet = 还没有商铺，请先新建一家。
sale-state = 状态
sold-of-granted = 已售 / 总量
left = 库存
marks = 已占名额
drift = 偏差
drift-explained = 偏差 = 总量 −（库存 + 已占名额），正常时为 0。已售以数据库为准，会比库存稍慢。
unknown = 未知
state-open = 开放
state-paused = 已暂停
state-withdrawn = 已撤回
window = 抢购时段
window-zone = 以上为 { $zone } 时间。
window-rule = 开始的那一刻即可抢购；到结束的那一刻就不能再抢（含开始，不含结束）。
field-shop-id = 商铺
field-title = 标题
field-title-hint = 最多 60 个字。
field-subtitle = 副标题
field-rules = 使用规则
field-price = 抢购价（元）
field-face-value = 面值（元）
field-stock = 数量（张）
field-stock-hint = 1 到 10000000 的整数。
field-begins-at = 开始时间
field-ends-at = 结束时间
field-zone = 时区
field-zone-hint = 上面两个时间所在的时区，例如 Asia/Shanghai。
field-category = 分类
field-category-hint = 例如：美食、咖啡、电影。
field-address = 地址
people = 人员
people-name = 名称
people-role = 角色
people-shop = 商铺
people-change = 更改
changed-role = 角色已更改，对方需要重新登录。
give-role = 授予角色
give-role-explained = 店员属于一家商铺，可以查看该店的订单；管理员管理一切。授予角色后，对方所有设备上的登录都会退出。
field-role = 角色
withdraw = 撤销
withdraw-explained = 对方将成为普通顾客，所有设备上的登录都会退出。
dead-letters = 无法处理的条目
dead-letters-explained = 这些队列条目无法存为订单，已经移出队列，等待处理。
no-dead-letters = 没有无法处理的条目。
no-dead-letters-hint = 队列里的条目都已存妥，没有需要决定的事。
replay = 放回队列
discard = 作废…
discard-explained = 订单将被取消并告知买家，名额退回继续出售。此操作无法撤销。
discard-nothing-explained = 该条目中没有订单，将被移除。此操作无法撤销。
discard-for-good = 确认作废
decision = 处理
letter-replayed = 条目已放回队列。
letter-discarded = 条目已作废。若其中有订单，订单已取消，并已告知买家。
letter-gone = 该条目已不在这里，没有做任何更改。
letter-later = 该场秒杀正在恢复，没有做任何更改，请稍后再试。
letter-sold_out = 该条目没有占用名额，且已无余量可用，没有做任何更改。
letter-unreadable = 该条目中没有可以存入的订单，只能作废。
entry = 条目
reason = 原因
tries = 尝试次数
fields = 内容

## 出错时

error-invalid = 填写有误
error-invalid-hint = 请检查填写的内容。
error-sign_in_required = 请先登录
error-sign_in_required-hint = 登录后才能查看这一页。
error-forbidden = 没有权限
error-forbidden-hint = 您的账户不能进行这项操作。如果您认为应该可以，请联系管理员。
error-not_found = 没有找到
error-not_found-hint = 这个地址下没有内容，或者它属于别的账户。请检查地址，或从首页重新开始。
error-too_many_requests = 操作太频繁
error-too_many_requests-hint = 操作太频繁了，请稍等片刻再试。
error-unavailable = 暂时无法使用
error-unavailable-hint = 系统暂时繁忙，请过几秒再试一次。
error-internal = 出了点问题
error-internal-hint = 是我们的问题，不是您的，已经记录下来。请过一会儿再试。

## 填写的问题

problem-missing = 请填写此项。
problem-too-short = 至少要 { $limit } 个字。
problem-too-long = 最多 { $limit } 个字。
problem-bad-letter = 含有无法显示的字符，请去掉。
problem-not-a-number = 请填写整数，只用数字 0 到 9。
problem-too-small = 不能小于 { $limit }。
problem-too-large = 不能大于 { $limit }。
problem-not-money = 请填写金额，最多两位小数，例如 19.99。
problem-below-price = 面值不能低于抢购价。
problem-not-a-time = 请填写日期和时间。
problem-unknown-zone = 没有这个时区，请填写如 Asia/Shanghai 的名称。
problem-no-such-time = 当地时钟跳过了这个时间（夏令时），请换一个。
problem-doubled-time = 当地时钟会两次走到这个时间（夏令时），请换一个。
problem-too-many-bytes = 提交的内容总共超过 { $limit } 字节。
problem-ends-before-begins = 结束时间必须晚于开始时间。
problem-past = 结束时间已经过去。
problem-doubled = 这一项重复提交了。
problem-taken = 这个名称已经有人使用。
problem-wrong-credentials = 名称或密码不正确。
problem-mixed-scripts = 混用了容易看错的不同字母，请只用一种。
problem-too-common = 这个密码人人都会先试，请换一个。
problem-wrong-password = 当前密码不正确。
problem-no-such-account = 没有叫这个名称的账户。
problem-last-admin = 这是最后一位管理员，请先把角色授予别人。
problem-unknown = 没有这一项，请重新选择。
