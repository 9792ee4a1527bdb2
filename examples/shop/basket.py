def price(basket, rate):
    total = 0
    for item in basket:
        total += item.price * item.count
    if total > 100:
        total -= discount(total, rate)
    return total  # TODO: round


def show(basket):
    print("to pay:", price(basket, 0.1))
