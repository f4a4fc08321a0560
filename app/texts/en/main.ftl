# English. The keys are those of zh/main.ftl; a test in texts.rs compares them.

## Every page

brand = Seckill
skip = Skip to content
main-ways = Main
menu = Menu
shops = Shops
my-orders = My orders
admin = Admin
sign-in = Sign in
sign-up = Sign up
sign-out = Sign out
other-language = 中文
footer = Real units, first come, first served. We say “Bought” only once your order is stored.
money = ¥{ $amount }
to-front-page = To the front page
to-shops = All shops
try-again = Try again
optional = optional

## Front page and shops

home-title = Flash sales
home-lead = Vouchers of shops around you. Few of each, and they start on the minute.
on-sale = On sale now and soon
all-shops = All shops
search-words = Shop name or address
all-categories = All categories
search = Search
no-shops = No shop matches this search.
no-shops-hint = Try a shorter word, or look through all categories.
more-shops = More shops
vouchers = Flash-sale vouchers
no-vouchers = This shop has no vouchers on offer at present.
no-vouchers-hint = Other shops have some: have a look at what sells now.

## Vouchers

voucher = Voucher
voucher-number = Voucher { $id }
shop = Shop
price = Price
face-value = Face value
saving = You save
saving-of = { $amount } ({ $percent }%)
saved-percent = −{ $percent }%
begins = Begins
ends = Ends
ended-at = Ended
begins-in = Begins in
ends-in = Ends in
days = { $days } d
units-left = { $left } left
units-left-of = { $left } of { $granted } left
phase-not_started = Coming up
phase-running = On sale
phase-sold_out = Sold out
phase-ended = Over
phase-closed = On hold
button-not_started = Not started yet
button-running = Buy now
button-sold_out = Sold out
button-ended = The sale has ended
button-closed = Not on sale just now
change-not_started = The sale has not started yet.
change-running = The sale has started. You can buy now.
change-sold_out = Sold out.
change-ended = The sale has ended.
change-closed = The sale is on hold.
sending = Sending…
sign-in-to-buy = Sign in to buy
own-order = You already have an order of this voucher. One per person.
see-order = See my order
outcome-sold_out = Sold out: no unit was left, so nothing was ordered.
outcome-not_started = The sale has not started yet, so nothing was ordered. Try again when it begins.
outcome-ended = The sale has ended, so nothing was ordered.
outcome-closed = The sale is on hold, so nothing was ordered. Try again a little later.

## Accounts

no-account = No account yet?
has-account = Already have an account?
title-wrong = Needs a change: { $title }
check-fields = Some fields need a change. They are marked below.
field-name = Name
field-name-hint = 2 to 32 letters. You sign in with it.
field-password = Password
field-password-hint = 8 to 128 letters.
account = Account
role-shopper = Shopper
role-clerk = Clerk
role-admin = Admin
change-password = Change password
changed-password = Your password is changed. Everywhere else you are signed out.
field-current-password = Current password
field-new-password = New password
field-new-password-hint = 8 to 128 letters, and not one that everybody tries first.
delete-account = Delete account
delete-account-explained = Your name and password are removed, and you are signed out everywhere. Orders that were stored stay with the shop, without your name: you can no longer show them as yours. This cannot be undone.
delete-for-good = Delete for good

## The desk of a shop

desk = Desk
field-order = Order number
field-order-hint = As the customer shows it on the order’s page.
look-up = Look up
no-such-order = There is no stored order of this number here. If it is still in the queue, try again in a moment.

## Orders

order = Your order
order-number = Order number
accepted-at = Accepted
no-orders = You have no orders yet.
no-orders-hint = What you buy is listed here at once, also while it is still in the queue.
see-sales = See what sells now
status-queued = In the queue
status-confirmed = Bought
status-refused = Not bought
status-queued-hint = A unit is held for you while your order is being stored. This page updates by itself.
status-confirmed-hint = Your order is stored and the voucher is yours.
status-refused-hint = This order did not go through, and its unit was given back.
reason-already_bought = One per person: you have another order of this voucher, and that one counts.
reason-sold_out = No unit was left when your order was to be stored. Have a look at other vouchers.
reason-discarded = The order could not be stored and was cancelled by our staff. You may buy again.
reason-lost = A fault of ours lost this order before it was stored. Nothing was charged. You may buy again.
reason-id_clash = The order number was in use already, so the order did not go through. You may buy again.
slow = This takes longer than usual. Your order is safe in the queue; you may close this page and look at “My orders” later.
live-order = See the order that counts
timeline = How it went
just-now = just now
step-asked = Asked
step-asked-hint = You pressed the button, and the order got its number.
step-accepted = Accepted
step-accepted-hint = A unit was set aside for you.
step-queued = Being stored
step-queued-hint = This usually takes a few seconds. If it is more than 30, nothing is lost: the unit stays yours, and there is no need to buy again. You may close this page; “My orders” shows how it ended.
step-confirmed = Stored: it is yours
step-confirmed-hint = Show this page, or its number, at the shop.
step-refused = Ended without a purchase
step-refused-hint = The unit went back on sale, and nothing is to be paid.
signed-out = You have been signed out. Sign in to follow your order.

## Admin

sales = Sales
no-sales = There are no sales yet.
no-sales-hint = Create a shop first, then its first sale.
new-sale = New sale
create-sale = Create sale
sale-created = The sale has been created.
see-voucher = See the voucher
new-shop = New shop
create-shop = Create shop
no-shop-yet = There is no shop yet. Create one first:
sale-state = State
sold-of-granted = Sold of granted
left = Left
marks = Marks
drift = Drift
drift-explained = Drift = granted − (left + marks); 0 when healthy. “Sold” is what the database has stored and lags a little.
unknown = unknown
state-open = open
state-paused = paused
state-withdrawn = withdrawn
window = When it sells
window-zone = Times are those of { $zone }.
window-rule = The first moment is included, the last is not: at the end time itself nothing is sold any more.
field-shop-id = Shop
field-title = Title
field-title-hint = At most 60 letters.
field-subtitle = Subtitle
field-rules = Rules of use
field-price = Price (¥)
field-face-value = Face value (¥)
field-stock = Units
field-stock-hint = A whole number from 1 to 10000000.
field-begins-at = Begins
field-ends-at = Ends
field-zone = Time zone
field-zone-hint = The zone of both times, for example Europe/Berlin.
field-category = Category
field-category-hint = For example: food, coffee, cinema.
field-address = Address
people = People
people-name = Name
people-role = Role
people-shop = Shop
people-change = Change
changed-role = The role is changed. That person signs in again.
give-role = Give a role
give-role-explained = A clerk works for one shop and sees its orders; an admin runs everything. Giving a role signs that person out everywhere.
field-role = Role
withdraw = Withdraw
withdraw-explained = This person becomes an ordinary shopper and is signed out everywhere.
dead-letters = Dead letters
dead-letters-explained = These queue entries could not be stored as orders. They were taken out of the queue and wait for a decision.
no-dead-letters = There are no dead letters.
no-dead-letters-hint = Every entry of the queue was stored. Nothing waits for a decision.
replay = Put back into the queue
discard = Discard…
discard-explained = The order is cancelled and its buyer is told. The unit goes back on sale. This cannot be undone.
discard-nothing-explained = The entry carries no order and is removed. This cannot be undone.
discard-for-good = Discard for good
decision = Decision
letter-replayed = The entry is in the queue again.
letter-discarded = The entry is discarded. Its order, if it carried one, is cancelled, and its buyer is told.
letter-gone = That entry is not here any more. Nothing was done.
letter-later = Its sale is being rebuilt. Nothing was done; try again in a moment.
letter-sold_out = The entry holds no unit, and none is left to take for it. Nothing was done.
letter-unreadable = The entry carries no order that could be stored. It can only be discarded.
entry = Entry
reason = Reason
tries = Tries
fields = Content

## When something fails

error-invalid = Please check your entries
error-invalid-hint = Something in the form was not accepted.
error-sign_in_required = Please sign in
error-sign_in_required-hint = You need to be signed in to see this page.
error-forbidden = Not allowed
error-forbidden-hint = Your account may not do this. If you think it should, ask an admin.
error-not_found = Not found
error-not_found-hint = There is nothing at this address, or it belongs to another account. Check the address, or start again from the front page.
error-too_many_requests = Too often
error-too_many_requests-hint = That was too often. Please wait a moment and try again.
error-unavailable = Not available just now
error-unavailable-hint = The system is busy just now. Please try again in a few seconds.
error-internal = Something went wrong
error-internal-hint = The fault is ours, not yours, and it has been noted. Please try again in a while.

## What is wrong with a field

problem-missing = Please fill this in.
problem-too-short = At least { $limit } letters.
problem-too-long = At most { $limit } letters.
problem-bad-letter = This holds a letter that cannot be shown. Please remove it.
problem-not-a-number = A whole number, in the digits 0 to 9.
problem-too-small = Not less than { $limit }.
problem-too-large = Not more than { $limit }.
problem-not-money = An amount with at most two decimals, for example 19.99.
problem-below-price = The face value must not be below the price.
problem-not-a-time = Please give a date and a time.
problem-unknown-zone = There is no such time zone. Use a name such as Europe/Berlin.
problem-no-such-time = The clocks skip this time there (daylight saving). Choose another.
problem-doubled-time = The clocks show this time twice there (daylight saving). Choose another.
problem-too-many-bytes = Everything together is more than { $limit } bytes.
problem-ends-before-begins = The end must be after the begin.
problem-past = The end has already passed.
problem-doubled = This was sent twice.
problem-taken = This name is taken.
problem-wrong-credentials = The name or the password is wrong.
problem-mixed-scripts = These letters are of alphabets that look alike. Please use one alphabet.
problem-too-common = This password is among the first that anybody would try. Please choose another.
problem-wrong-password = This is not the current password.
problem-no-such-account = Nobody has this name.
problem-last-admin = This is the last admin. Give somebody else the role first.
problem-unknown = There is no such thing. Please choose again.
