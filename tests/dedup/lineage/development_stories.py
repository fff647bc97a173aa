"""The stories on which the rules of the lineage were chosen. All invented."""

from tests.dedup.lineage.scenarios import Topic

TOPICS = (
    Topic(
        headline="{place} ferry runs aground with {n} aboard",
        core=(
            "A car ferry with {n} people aboard ran aground off {place} early on {day}, the coast guard said.",
            "Nobody was hurt, but {n2} passengers spent the night in a school hall.",
            "The ship, the {thing}, had left {place2} in fog and missed the marked channel by about {n3} metres.",
            "Captain {person} told investigators that a buoy was not where the chart showed it.",
            "Two tugs pulled the ferry free at high water, {n3} minutes after the second attempt began.",
            "Divers found a dent of {n4} metres in the hull and a broken stabiliser.",
            "The operator, {org}, has run the crossing since it bought the old line for {money}.",
            "“We will carry every car by road until the ship is checked,” said its director, {person2}.",
            "Trade unions had warned in spring that crews were too small for night crossings.",
            "The ministry of transport opened an inquiry and asked for the records of the bridge.",
            "A first report is expected within {n4} weeks.",
            "It is the third grounding on the route in ten years.",
        ),
        takes=(
            "For hours nobody on the quay in {place} knew what the lights in the fog meant.",
            "What happened on the night crossing will occupy the courts for a long time.",
            "Our reporter reached the harbour shortly after the first families had been brought ashore.",
            "The accident revives an old quarrel about who pays for dredging the channel.",
            "Shares of the operator fell sharply when the exchange opened.",
            "People in {place2} spoke of a noise like a train.",
        ),
    ),
    Topic(
        headline="Central bank of {place} lifts rate to {n4} percent",
        core=(
            "The central bank of {place} raised its key rate to {n4} percent on {day}, the second rise this year.",
            "Governor {person} said that prices had climbed faster than the bank had forecast.",
            "Inflation reached {n4}.{n4} percent last month, driven by fuel and rents.",
            "Of {n3} economists asked before the meeting, most had expected no change.",
            "The {thing} gained against all major currencies within minutes of the decision.",
            "“We would rather act early than act twice,” {person} told reporters.",
            "Banks will have to hold {n3} percent of new deposits in reserve from next quarter.",
            "Home owners with a variable loan of {money} will pay about {n2} more each month.",
            "The association of builders called the step a brake on a market that had already stopped.",
            "Finance minister {person2} declined to comment and referred to the independence of the bank.",
            "The next meeting is set for the first week of {month}.",
            "Minutes of the discussion will be published in {n4} weeks.",
        ),
        takes=(
            "Borrowers had hoped for a quiet summer, and will not get one.",
            "The decision came as a surprise even to those who follow the bank closely.",
            "Markets had bet on patience; they were taught otherwise.",
            "Nobody in the building would say how the vote had gone.",
            "It was the shortest meeting of the committee that anybody could remember.",
            "For savers, the news is better than it has been for years.",
        ),
    ),
    Topic(
        headline="{org} to build battery plant in {place}",
        core=(
            "{org} will build a battery plant in {place} and hire {n2} people, the company announced on {day}.",
            "Construction on the old airfield is to begin in {month}, and the first cells will leave it in {n4} years.",
            "The investment of {money} is the largest in the region since the steelworks closed.",
            "“{place} has what we need: water, rails and people who want to work,” said chief executive {person}.",
            "The plant will make cells for {n3} thousand cars a year at full capacity.",
            "All electricity will come from the wind farms off the coast, under a contract of {n3} years.",
            "The regional government supports the project with land and with the training of {n2} apprentices.",
            "Minister-president {person2} called the decision proof that industry has a future here.",
            "Waste heat is to warm the {thing} quarter, home to {n} families.",
            "A public hearing on the permits takes place in the town hall next month.",
            "{org} employs {n} people at {n4} sites on two continents.",
        ),
        takes=(
            "After two years of rumours, the fence went up this week.",
            "Neighbours of the airfield learnt of the plans from a flyer in their letter boxes.",
            "The town has been promised factories before.",
            "An alliance of fishermen fears for the river, from which the plant will draw its water.",
            "Other towns had offered cheaper land, people close to the talks said.",
            "What the subsidy costs each taxpayer, nobody would calculate on {day}.",
        ),
        contact=(
            "About {org}",
            "For more information, please contact the press team at press@{slug}.example or +44 20 7946 0{n2}.",
        ),
    ),
    Topic(
        headline="Researchers count fewer {thing} in {place}",
        core=(
            "The number of {thing} in the marshes of {place} has halved within a decade, says a study of {day}.",
            "A team led by {person} of {org} counted {n} nests in spring, against {n} when the survey began.",
            "The birds suffer from early mowing and from foxes that dry ditches let in.",
            "“If the water level rises by {n3} centimetres, most of the damage can be undone,” {person} said.",
            "Farmers would have to be paid for {n2} hectares that could no longer carry cattle.",
            "The study proposes {n4} zones in which the first cut waits until {month}.",
            "Volunteers with cameras watched {n3} nests around the clock and saw foxes at half of them.",
            "In the neighbouring delta, where ditches were dammed ten years ago, the number has doubled.",
            "The farmers' union said it had not been asked and doubted the figures.",
            "Environment minister {person2} promised a plan and {money} before the end of the year.",
            "The next count is due in two years.",
        ),
        takes=(
            "Those who walk the dykes at dawn have long known that something is missing.",
            "The marsh has fallen silent, and now there is a number for the silence.",
            "Birdwatchers greeted the study with relief and anger.",
            "Few subjects divide {place} like the height of its water.",
            "The authors had expected bad news, but not this.",
            "An old ditch keeper remembers when nobody bothered to count.",
        ),
    ),
)

LOCAL = (
    "In {town}, the news was discussed at the weekly market on {day}.",
    "The mayor of {town}, {person3}, said that the town was watching the matter closely.",
    "A reader from {town} reminded this newspaper of a similar case in her grandfather's time.",
    "The bus line to {town} is not affected, its operator said when asked.",
    "A meeting for residents of {town} takes place in the old fire station at {n3} minutes past seven.",
    "Shopkeepers in {town} expect little effect on their business, a survey by this newspaper found.",
    "{person3}, who teaches in {town}, plans to discuss it with her pupils.",
    "The council of {town} put the subject on the agenda of its next session.",
    "Members of the choir of {town} collected {n2} coins for those concerned.",
    "The museum in {town} shows photographs on the subject until {month}.",
)

PERSONS = ("Ilse Marrow", "Tomas Venn", "Greta Holm", "Anton Pryde", "Beatriz Cole", "Omar Lindt", "Nadia Frost")
PERSONS += ("Karel Stone", "Vera Bright", "Paul Ostend", "Minna Gale", "Felix Harrow", "Ruth Calder", "Jonas Wick")
PLACES = ("Norhaven", "Eastmere", "Calder Bay", "Stonewick", "Vellmouth", "Aldersund", "Marbeck", "Quillport")
ORGANISATIONS = ("Northlight", "Halcyon Works", "Meridian Lines", "Castor Energy", "Bluefield Institute", "Tarn Group")
THINGS = ("lapwings", "Kestrel", "crown", "Garnet", "curlews", "Harrier", "avocets", "Lantern")
