# 简体中文。键与 en/main.ftl 相同；texts.rs 的测试会检查。

## 每一页

brand = 秒杀
skip = 跳到正文
main-ways = 主导航
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
more-shops = 更多商铺
vouchers = 秒杀券
no-vouchers = 这家商铺目前没有秒杀券。

## 秒杀券

voucher = 秒杀券
voucher-number = { $id } 号秒杀券
shop = 商铺
price = 抢购价
face-value = 面值
saving = 立省
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
stored-at = 处理时间
no-orders = 您还没有订单。
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
signed-out = 登录已经过期，登录后可继续查看。

## 管理

sales = 秒杀管理
no-sales = 还没有秒杀。
new-sale = 新建秒杀
create-sale = 创建秒杀
sale-created = 秒杀已创建。
see-voucher = 查看秒杀券
new-shop = 新建商铺
create-shop = 创建商铺
no-shop-yet = 还没有商铺，请先新建一家。
sale-state = 状态
sold-of-granted = 已售 / 总量
drift = 偏差
unknown = 未知
refresh = 刷新
live-pause = 停止更新
live-resume = 恢复更新
live-signed-out = 登录已经过期，这里的数字不再更新。请在另一个窗口重新登录，或刷新本页。
first-sales = 回到开头
more-sales = 更多秒杀
console-explained = 进行中的在前，其次是即将开始的，最后是已结束的。每秒成单：最近十到二十秒内平均每秒接受的订单。待登记：已接受、尚未存妥的订单，包括无法处理的条目。偏差 = 总量 −（在售 + 已占名额），正常时为 0。
sale-left = 在售
sale-rate = 每秒成单
sale-backlog = 待登记
sale-orders = 本场订单
sale-orders-explained = 按接受的先后排列。排队中的订单存妥之后才会出现在这里。
no-sale-orders = 这里还没有存妥的订单。
all-orders = 全部
order-status = 订单状态
first-orders = 回到开头
more-orders = 更多订单
buyer = 买家
user-number = { $id } 号
cause-already_bought = 已有另一个订单
cause-sold_out = 名额已经用完
cause-discarded = 由工作人员作废
cause-lost = 登记之前丢失
cause-id_clash = 订单号冲突
export = 导出 CSV
units = 每个名额在哪里
units-explained = 总量 = 在售 + 排队 + 已售 + 无法处理的条目 + 偏差。每个名额只在一处。
units-move = 统计时名额正在流动，这些数字不是同一瞬间的。
units-unknown = 闸口暂时没有回应，或正在恢复。这里显示数据库所知的数字。
units-left-gate = 本场已结束七天以上，已从闸口移除。没有售出的名额不再出售。
unit-left = 在售（闸口）
unit-queued = 排队中
unit-confirmed = 已售
unit-dead = 被无法处理的条目占用
unit-moving = 正在流转
unit-drift = 偏差
unit-granted = 总量
unit-refused = 接受后又被拒绝，名额已退回
over-time = 变化
span-minutes = 10 分钟
span-hours = 2 小时
span-whole = 整场
charts-explained = 各实例分别计数，每秒写入一次；实例被强行终止时会丢失一秒的数字，但不会丢失订单。数字保留三十天。
chart-orders = 接受与存妥（每秒订单数）
chart-refused-at-gate = 闸口拒绝（每秒次数）
chart-backlog = 待登记的订单
chart-lag = 从接受到存妥（毫秒）
chart-accepted = 接受
chart-confirmed = 已售
chart-refused = 接受后又被拒绝
refused-sold_out = 已抢完
refused-not_started = 尚未开始
refused-ended = 已经结束
refused-closed = 暂停抢购
refused-already_bought = 已经买过
chart-waiting = 最多
chart-lag-mean = 平均
chart-lag-most = 最长
chart-figures = 数字
chart-time = 时间
chart-nothing = 这段时间内没有。
chart-span = 从 { $from } 到 { $until }。
chart-line = { $name }：最多 { $most }，最后 { $last }。
state-open = 开放
state-paused = 已暂停
state-withdrawn = 已撤回
window = 抢购时段
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
letters-of-sale = 只看此号秒杀
show = 查看
all-letters = 全部条目
first-letters = 回到开头
more-letters = 更多条目
no-dead-letters-so-far = 目前还没有找到，后面还有未查看的条目。
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
error-forbidden-hint = 您的账户不能进行这项操作。
error-not_found = 没有找到
error-not_found-hint = 这个地址下没有内容，或者它不属于您。
error-too_many_requests = 操作太频繁
error-too_many_requests-hint = 操作太频繁了，请稍等片刻再试。
error-unavailable = 暂时无法使用
error-unavailable-hint = 系统暂时繁忙，请过几秒再试一次。
error-internal = 出了点问题
error-internal-hint = 是我们的问题，不是您的。请稍后再试。

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
